"""A thread that every provider would refuse, found, repaired and continued.

An agent was cancelled while a tool ran, and its thread was trimmed by a program that counts messages:
one call has no result, and one result has no call. The bundled model answers at the end, offline.

    python examples/poisoned_thread.py
"""

from dragoman.chat_models import init_chat_model
from dragoman.errors import TranscriptError
from dragoman.messages import AIMessage, HumanMessage, ToolMessage
from dragoman.threads import MemoryThreads
from dragoman.transcript import repair_messages, validate_messages

POISONED = [
    ToolMessage("Rain, 12 degrees", tool_call_id="call_0"),
    AIMessage("It rains in London, at 12 degrees."),
    HumanMessage("And in Paris and Rome?"),
    AIMessage(
        "",
        tool_calls=[
            {"name": "get_weather", "args": {"city": "Paris"}, "id": "call_1"},
            {"name": "get_weather", "args": {"city": "Rome"}, "id": "call_2"},
        ],
    ),
    ToolMessage("Sunny, 25 degrees", tool_call_id="call_1"),
    HumanMessage("Never mind Rome. How is the weather in Paris?"),
]


def main() -> None:
    for issue in validate_messages(POISONED, "openai"):
        kept = "loses it" if issue.lossy else "loses nothing"
        print(f"[{issue.index}] {issue.message}; {issue.fix} ({kept})")

    strict = init_chat_model("local", temperature=0, max_tokens=40, history="strict")
    try:
        strict.invoke(POISONED)
    except TranscriptError as error:
        print(f"strict, before the network: {len(error.issues)} issues")

    # What can be mended without a loss is mended by every model by itself; the stray result is lost,
    # so it is for the program to say so.
    repaired = repair_messages(POISONED, "openai").messages
    print(f"repaired: {len(validate_messages(repaired, 'openai'))} issues")

    thread = MemoryThreads().thread("weather")
    head = thread.append(repaired, expect=None)
    reply = strict.invoke(thread.load().messages)
    thread.append([reply], expect=head)
    print(f"answered: {reply.type}, thread of {len(thread.load().messages)} messages")


if __name__ == "__main__":
    main()
