import json

import pytest
from tests.cli.support import streamed, terminal

from dragoman.messages import messages_from_json
from dragoman.testing import Reply, ScriptedServer

MODEL = ("chat", "--model", "openai:m")


def test_a_terminal_sees_the_reply_cleaned_and_a_closing_line():
    reply = streamed("Hello \x1b[2Jthere", reasoning_content="thinking hard")
    with ScriptedServer(reply) as server, terminal(*MODEL, "hi", url=server.url) as person:
        # 2 is dim and 3 italic; the reply's own escape is taken out.
        person.wait_for("\x1b[2;3mthinking hard\x1b[0m\r\nHello [2Jthere\r\n")
        assert "openai:m · 2 tokens · " in person.wait_for(" s\x1b[0m\r\n")
        assert person.end() == 0


def test_a_conversation_remembers_resets_saves_and_loads(tmp_path):
    replies = [streamed(word) for word in ("first", "second", "third", "fourth")]
    with (
        ScriptedServer(*replies) as server,
        terminal(*MODEL, "--system", "Be brief.", url=server.url, cwd=str(tmp_path)) as person,
    ):
        person.wait_for("> ")
        for question, answer in (("one", "first"), ("two", "second")):
            person.type(question + "\n")
            person.wait_for(answer)
            person.wait_for("> ")
        person.type("/save my talk.json\n")
        person.wait_for("(5 messages in my talk.json)")
        person.type("/reset\n")
        person.wait_for("(a new conversation)")
        person.type("three\n")
        person.wait_for("third")
        person.type("/load my talk.json\n")
        person.wait_for("(5 messages from my talk.json)")
        person.type("four\n")
        person.wait_for("fourth")
        person.type("/exit\n")
        assert person.end() == 0
        sent = [[m["content"] for m in request.json["messages"]] for request in server.requests]
    start = ["Be brief.", "one", "first", "two"]
    assert sent == [start[:2], start, ["Be brief.", "three"], [*start, "second", "four"]]
    saved = messages_from_json((tmp_path / "my talk.json").read_bytes())
    assert [m.type for m in saved] == ["system", "human", "ai", "human", "ai"]


def test_ctrl_c_stops_a_reply_and_keeps_the_conversation():
    with (
        ScriptedServer(streamed("never ending", end="hang"), streamed("fine")) as server,
        terminal(*MODEL, url=server.url) as person,
    ):
        person.wait_for("> ")
        person.type("tell\n")
        person.wait_for("never ending")
        person.interrupt("(stopped)")
        assert server.wait_idle()
        person.wait_for("> ")
        person.type("go on\n")
        person.wait_for("fine")
        person.wait_for("> ")
        person.interrupt("leaves)")
        person.wait_for("> ")  # before it, Ctrl-D would be a character of the old line
        person.type("\x04")
        assert person.end() == 0
        messages = server.requests[1].json["messages"]
    assert [m["content"] for m in messages] == ["tell", "never ending", "go on"]


@pytest.mark.parametrize(
    ("reply", "kept"),
    [
        (Reply.json({"error": {"message": "no"}}, status=400), ["a", "b"]),
        (streamed("half", end="reset"), ["a", "half", "b"]),
    ],
    ids=["refused", "broken off"],
)
def test_a_failed_reply_loses_nothing_of_the_conversation(reply, kept):
    with (
        ScriptedServer(reply, streamed("fine")) as server,
        terminal(*MODEL, url=server.url) as person,
    ):
        person.wait_for("> ")
        person.type("a\n")
        person.wait_for("dragoman: ")
        person.wait_for("> ")
        person.type("b\n")
        person.wait_for("fine")
        person.type("/exit\n")
        person.end()
        sent = " ".join(m["content"] for m in server.requests[-1].json["messages"])
    assert sent.split() == kept


def test_slash_commands_that_cannot_be_done_say_so_and_go_on(tmp_path):
    (tmp_path / "broken.json").write_text('[{"type": "human", "content": "x"')
    (tmp_path / "several.jsonl").write_text('{"messages": []}\n' * 2)
    with terminal(*MODEL, url="http://127.0.0.1:9", cwd=str(tmp_path)) as person:
        for line, said in [
            ("/nope", "there is no '/nope'"),
            ("/save", "/save needs the name of a file"),
            ("/save no/such/folder/x", "no/such/folder/x: No such file or directory"),
            ("/load missing.json", "missing.json: No such file or directory"),
            ("/load broken.json", "dragoman: "),
            ("/load several.jsonl", "several.jsonl: more than one history"),
            ("/help", "/save FILE"),
        ]:
            person.wait_for("> ")
            person.type(line + "\n")
            person.wait_for(line + "\r\n")
            person.wait_for(said)
        person.wait_for("> ")
        person.type("/exit\n")
        assert person.end() == 0
    assert {path.name for path in tmp_path.iterdir()} == {"broken.json", "several.jsonl"}


@pytest.mark.parametrize(
    "document",
    [
        [{"role": "user", "content": "one"}, {"role": "assistant", "content": "first"}],
        {
            "model": "m",
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": "one"}]},
                {"role": "assistant", "content": "first"},
            ],
        },
        {
            "contents": [
                {"role": "user", "parts": [{"text": "one"}]},
                {"role": "model", "parts": [{"text": "first"}]},
            ]
        },
        {
            "messages": [
                {"type": "human", "data": {"content": "one"}},
                {"type": "ai", "data": {"content": "first"}},
            ]
        },
    ],
)
def test_a_conversation_goes_on_from_a_file_of_any_form(tmp_path, document):
    (tmp_path / "talk.json").write_text(json.dumps(document))
    with (
        ScriptedServer(streamed("second")) as server,
        terminal(*MODEL, url=server.url, cwd=str(tmp_path)) as person,
    ):
        person.wait_for("> ")
        person.type("/load talk.json\n")
        person.wait_for("(2 messages from talk.json)")
        person.type("two\n")
        person.wait_for("second")
        person.type("/exit\n")
        assert person.end() == 0
        sent = [m["content"] for m in server.requests[-1].json["messages"]]
    assert sent == ["one", "first", "two"]


@pytest.mark.local_model
def test_ctrl_c_at_the_bundled_model_leaves_its_server_running():
    with terminal("chat", "--temperature", "0") as person:
        person.wait_for("> ")
        person.type("Write a very long story about a ship.\n")
        person.wait_for("\n")
        person.wait_for_more(20)
        person.interrupt("(stopped)")
        person.wait_for("> ")
        person.type("What is the capital of Italy?\n")
        assert "Rome" in person.wait_for("tokens · ")
        person.type("/exit\n")
        assert person.end() == 0
