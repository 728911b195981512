"""A program of LangChain's, and the same program here: one line differs.

Compare: diff examples/same_program_langchain.py examples/same_program_dragoman.py

What the line buys, in five lines of `make bench` (a busy machine of two cores, 2026-12; run it on yours).
The columns are LangChain, dragoman, and the floor: the least that any Python could do, such as appending
the texts to a list.

    case                 langchain   dragoman      floor
    W2.human               1.55 us    0.12 us    0.04 us   make a message
    W3.1k                  10.5 us    0.48 us    0.05 us   add one chunk to a stream of 1,000
    W4.each.1k              176 us     2.7 us    0.65 us   the same, with arguments of a tool read each time
    W6.encode               4.1 us    0.55 us    0.07 us   a message of a history as JSON
    W7.approx.last.10k    25.7 ms     0.06 ms   0.007 ms   trim 10,000 messages to the last that fit

The first is a struct in the place of a pydantic model. The second and third are sums that cost as much as
what is added, not as much as what is there. The fourth is one pass at C speed. The last looks only at the
messages that are kept.
"""

from dragoman import language_models, messages, output_parsers, prompts, tools

SYSTEM = "You turn {unit} into numbers."


@tools.tool
def double(number: int) -> int:
    """Double a number."""
    return 2 * number


def main() -> None:
    model = language_models.GenericFakeChatModel(messages=iter(["4 apples", "done"]))
    prompt = prompts.ChatPromptTemplate.from_messages(
        [("system", SYSTEM), prompts.MessagesPlaceholder("history"), ("human", "{question}")]
    )
    chain = prompt | model | output_parsers.StrOutputParser()
    call = {"name": "double", "args": {"number": 2}, "id": "call_1", "type": "tool_call"}
    history = [
        messages.HumanMessage("Double two."),
        messages.AIMessage("", tool_calls=[call]),
        double.invoke(call),
        messages.AIMessage("4"),
    ]
    given = {"unit": "apples", "history": history, "question": "And in apples?"}
    print(chain.invoke(given))
    print("|".join(chain.stream(given)))
    print(messages.get_buffer_string(history))
    kept = messages.trim_messages(
        [*history, messages.HumanMessage("And now?")],
        max_tokens=1,
        token_counter=len,
        start_on="human",
    )
    print([message.content for message in kept])


if __name__ == "__main__":
    main()
