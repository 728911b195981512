"""One conversation that goes Claude -> GPT -> Gemini -> Claude.

Each provider signs or encrypts its reasoning, wants its own back to the byte, and refuses another's.
The servers here follow a script (no keys, no network) and keep what they were sent, so that the last
lines can compare. With real keys leave `base_url` and `api_key` out.

    python examples/round_trip.py
"""

import json
from typing import Any

from dragoman.chat_models import init_chat_model
from dragoman.messages import BaseMessage, HumanMessage, ToolMessage
from dragoman.testing import Reply, ScriptedServer

CLAUDE_SIGNATURE = "EqoBCkgIARABGAIiQL+Zx/w9k=="
GPT_SECRET = "gAAAAABo-encrypted-reasoning"
GEMINI_SIGNATURE = "CiQBjz1rX+z7CAOC"

CLAUDE = {
    "id": "msg_01",
    "type": "message",
    "role": "assistant",
    "model": "claude-sonnet-4-5",
    "content": [
        {"type": "thinking", "thinking": "I need the weather.", "signature": CLAUDE_SIGNATURE},
        {"type": "text", "text": "Let me look."},
        {"type": "tool_use", "id": "toolu_01", "name": "get_weather", "input": {"city": "Paris"}},
    ],
    "stop_reason": "tool_use",
    "stop_sequence": None,
    "usage": {"input_tokens": 20, "output_tokens": 10},
}
GPT = {
    "id": "resp_1",
    "object": "response",
    "created_at": 1761000000,
    "status": "completed",
    "model": "gpt-5",
    "output": [
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": GPT_SECRET},
        {
            "type": "message",
            "id": "msg_2",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": "It is sunny.", "annotations": []}],
        },
    ],
    "usage": {"input_tokens": 30, "output_tokens": 5, "total_tokens": 35},
}
GEMINI = {
    "candidates": [
        {
            "content": {
                "role": "model",
                "parts": [
                    {
                        "functionCall": {"name": "get_weather", "args": {"city": "Rome"}},
                        "thoughtSignature": GEMINI_SIGNATURE,
                    }
                ],
            },
            "finishReason": "STOP",
            "index": 0,
        }
    ],
    "usageMetadata": {"promptTokenCount": 40, "candidatesTokenCount": 5, "totalTokenCount": 45},
    "modelVersion": "gemini-3-flash-preview",
    "responseId": "r1",
}
FAREWELL = CLAUDE | {
    "id": "msg_02",
    "content": [{"type": "text", "text": "Sunny in both."}],
    "stop_reason": "end_turn",
}


def tour(url: str) -> list[BaseMessage]:
    """Return the conversation, held with the servers at `url`."""
    names = ["anthropic:claude-sonnet-4-5", "openai_responses:gpt-5", "google_genai:gemini-3"]
    claude, gpt, gemini = (init_chat_model(n, base_url=url, api_key="none") for n in names)
    history: list[BaseMessage] = [HumanMessage("How is the weather in Paris?")]
    history.append(claude.invoke(history))
    history.append(ToolMessage("Sunny, 25 degrees", tool_call_id="toolu_01", name="get_weather"))
    history.append(gpt.invoke(history))
    history.append(HumanMessage("And in Rome?"))
    history.append(gemini.invoke(history))
    (call,) = history[-1].tool_calls
    history.append(ToolMessage("Sunny too", tool_call_id=call["id"], name="get_weather"))
    history.append(claude.invoke(history))
    return history


def main() -> list[Any]:
    replies = [Reply.json(body) for body in (CLAUDE, GPT, GEMINI, FAREWELL)]
    with ScriptedServer(*replies) as server:
        history = tour(server.url)
        sent = [request.json for request in server.requests]
    for message in history:
        print(f"{message.type:>5}: {message.text or [c['name'] for c in message.tool_calls]}")
    first_turn = next(m for m in sent[3]["messages"] if m["role"] == "assistant")
    same = json.dumps(first_turn["content"]) == json.dumps(CLAUDE["content"])
    print(f"Claude's first turn came back to Claude byte for byte: {same}")
    return sent


if __name__ == "__main__":
    main()
