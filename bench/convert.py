"""`dragoman.convert` of a chat request to Anthropic and back, against martian-linguafranca (Rust).

A request of ten messages (system, text, two calls with results, one tool). Both are told the two
wires; `by shape` is dragoman that has to find them out. They run in turns in this process, nine
rounds; the best of each counts. Run by `make bench`.
"""

import json
import timeit

import linguafranca

import dragoman

CHAT = linguafranca.FormatName.OPENAI_CHAT_COMPLETIONS
MESSAGES = linguafranca.FormatName.ANTHROPIC_MESSAGES
TOOL = {
    "name": "get_weather",
    "description": "Get the weather of a city",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string"}, "unit": {"type": "string"}},
        "required": ["city"],
    },
}


def _call(id: str, city: str) -> dict:
    function = {"name": "get_weather", "arguments": json.dumps({"city": city})}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": id, "type": "function", "function": function}],
    }


BODY = {
    "model": "gpt-4o",
    "max_tokens": 1000,
    "messages": [
        {"role": "system", "content": "You are a helpful assistant."},
        {"role": "user", "content": "What is the weather in Paris?"},
        _call("call_1", "Paris"),
        {"role": "tool", "tool_call_id": "call_1", "content": "Sunny, 21 degrees"},
        {"role": "assistant", "content": "It is sunny in Paris, at 21 degrees."},
        {"role": "user", "content": "And in London?"},
        _call("call_2", "London"),
        {"role": "tool", "tool_call_id": "call_2", "content": "Rain, 14 degrees"},
        {"role": "assistant", "content": "It rains in London, at 14 degrees."},
        {"role": "user", "content": "Which of them is warmer?"},
    ],
    "tools": [{"type": "function", "function": TOOL}],
}


def ours() -> None:
    """There and back with dragoman, which is told both wires, as its peer is."""
    there = dragoman.convert(BODY, to="anthropic", source="openai_chat")
    dragoman.convert(there.body, to="openai_chat", source="anthropic")


def detected() -> None:
    """There and back with dragoman, both wires told from the shapes."""
    dragoman.convert(dragoman.convert(BODY, to="anthropic").body, to="openai")


def theirs() -> None:
    """There and back with linguafranca, which is told both wires."""
    there = linguafranca.convert_request(BODY, source_format=CHAT, target_format=MESSAGES)
    linguafranca.convert_request(there.value, source_format=MESSAGES, target_format=CHAT)


def main() -> None:
    """Print the microseconds of each, and their ratio."""
    runs = {"dragoman": ours, "linguafranca": theirs, "by shape": detected}
    best = dict.fromkeys(runs, float("inf"))
    for _ in range(9):
        for name, run in runs.items():
            best[name] = min(best[name], timeit.timeit(run, number=300) / 300 * 1e6)
    there = linguafranca.convert_request(BODY, source_format=CHAT, target_format=MESSAGES)
    same = there.value["messages"] == dragoman.convert(BODY, to="anthropic").body["messages"]
    print("convert, ten messages, chat -> anthropic -> chat (us)")
    for name, us in best.items():
        print(f"  {name:<14}{us:8.1f}")
    print(
        f"  ratio         {best['linguafranca'] / best['dragoman']:8.2f}  (same messages: {same})"
    )


if __name__ == "__main__":
    main()
