"""Asks a person before certain tools run."""

from collections.abc import Callable
from typing import Any, Literal, NotRequired, cast

from typing_extensions import TypedDict

from dragoman.agents.calls import last_reply, open_calls
from dragoman.agents.control import interrupt
from dragoman.agents.middleware.types import AgentMiddleware
from dragoman.agents.runtime import Runtime
from dragoman.messages import ToolCall, ToolMessage

__all__ = [
    "Action",
    "ActionRequest",
    "Decision",
    "HITLRequest",
    "HITLResponse",
    "HumanInTheLoopMiddleware",
    "InterruptOnConfig",
    "ReviewConfig",
]

DecisionType = Literal["approve", "edit", "reject", "respond"]


class Action(TypedDict):
    """A call: the tool's name and the arguments."""

    name: str
    args: dict[str, Any]


class ActionRequest(TypedDict):
    """A call that waits for a decision."""

    name: str
    args: dict[str, Any]
    description: NotRequired[str]


class ReviewConfig(TypedDict):
    """Which decisions a call allows."""

    action_name: str
    allowed_decisions: list[DecisionType]


class HITLRequest(TypedDict):
    """What the interrupt asks: the calls, and what may be decided on each."""

    action_requests: list[ActionRequest]
    review_configs: list[ReviewConfig]


class Decision(TypedDict):
    """One decision, in the order of the calls."""

    type: DecisionType
    edited_action: NotRequired[Action]
    message: NotRequired[str]


class HITLResponse(TypedDict):
    """What the interrupt is answered with."""

    decisions: list[Decision]


class InterruptOnConfig(TypedDict):
    """When and how to ask about one tool."""

    allowed_decisions: list[DecisionType]
    description: NotRequired[str | Callable[[ToolCall, Any, Runtime[Any]], str]]
    when: NotRequired[Callable[[ToolCall, Any, Runtime[Any]], bool]]


_ALL: list[DecisionType] = ["approve", "edit", "reject", "respond"]


class HumanInTheLoopMiddleware(AgentMiddleware[Any, Any]):
    """Stops the agent with one interrupt for all calls of a reply that need a decision.

    `approve` lets a call run, `edit` runs it changed, `reject` answers it with an error result that
    holds the message, `respond` answers it with the message as its result.

    Args:
        interrupt_on: From a tool's name to True, False or a config.
        description_prefix: Stands in front of the description of each call.
    """

    def __init__(
        self,
        interrupt_on: dict[str, bool | InterruptOnConfig],
        *,
        description_prefix: str = "Tool execution requires approval",
    ) -> None:
        self.interrupt_on: dict[str, InterruptOnConfig] = {
            name: InterruptOnConfig(allowed_decisions=list(_ALL)) if config is True else config
            for name, config in interrupt_on.items()
            if not isinstance(config, bool) or config
        }
        self.description_prefix = description_prefix

    def after_model(self, state: Any, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Ask about the calls of the last reply, and return it as decided."""
        last = last_reply(state["messages"])
        asked = [c for c in open_calls(state["messages"]) if self._asks(c, state, runtime)]
        if last is None or not asked:
            return None
        answer: Any = interrupt(self._request(asked, state, runtime))
        decisions = _decisions_of(answer)
        if len(decisions) != len(asked):
            message = (
                f"Number of human decisions ({len(decisions)}) does not match number of hanging "
                f"tool calls ({len(asked)})."
            )
            raise ValueError(message)
        places = {id(call): decision for call, decision in zip(asked, decisions, strict=True)}
        calls: list[ToolCall] = []
        results: list[ToolMessage] = []
        for call in last.tool_calls:
            decision = places.get(id(call))
            changed, result = (call, None) if decision is None else self._decided(call, decision)
            results += [result] if result is not None else []
            calls.append(changed)
        return {"messages": [last.model_copy(update={"tool_calls": calls}), *results]}

    async def aafter_model(self, state: Any, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Async `after_model`."""
        return self.after_model(state, runtime)

    def _asks(self, call: ToolCall, state: Any, runtime: Runtime[Any]) -> bool:
        config = self.interrupt_on.get(call["name"])
        when = None if config is None else config.get("when")
        return config is not None and (when is None or bool(when(call, state, runtime)))

    def _request(self, calls: list[ToolCall], state: Any, runtime: Runtime[Any]) -> HITLRequest:
        requests: list[ActionRequest] = []
        reviews: list[ReviewConfig] = []
        for call in calls:
            config = self.interrupt_on[call["name"]]
            given = config.get("description")
            if callable(given):
                text = given(call, state, runtime)
            elif given is not None:
                text = given
            else:
                text = f"{self.description_prefix}\n\nTool: {call['name']}\nArgs: {call['args']}"
            requests.append({"name": call["name"], "args": call["args"], "description": text})
            reviews.append(
                {"action_name": call["name"], "allowed_decisions": config["allowed_decisions"]}
            )
        return {"action_requests": requests, "review_configs": reviews}

    def _decided(self, call: ToolCall, decision: Any) -> tuple[ToolCall, ToolMessage | None]:
        kind = decision.get("type")
        allowed = self.interrupt_on[call["name"]]["allowed_decisions"]
        if kind not in allowed:
            message = (
                f"Unexpected human decision: decision type {kind!r} is not allowed for tool "
                f"{call['name']!r}. Expected one of {allowed} based on the tool's configuration."
            )
            raise ValueError(message)
        if kind == "approve":
            return call, None
        if kind == "edit":
            edited = decision.get("edited_action")
            name, args = (
                (edited.get("name"), edited.get("args")) if isinstance(edited, dict) else ("", None)
            )
            if not isinstance(name, str) or not name or not isinstance(args, dict):
                message = (
                    f"the decision 'edit' for tool {call['name']!r} needs "
                    "edited_action={'name': ..., 'args': {...}}"
                )
                raise ValueError(message)
            return {**call, "name": name, "args": args}, None
        text = str(decision.get("message") or "")
        status = "success"
        if kind == "reject":
            status = "error"
            reason = (
                f"with reason: {text}" if text else f"with id {call['id']}; it was not executed"
            )
            text = f"User rejected the tool call for `{call['name']}` {reason}"
        result = ToolMessage(
            text, tool_call_id=call["id"] or "", name=call["name"], status=cast("Any", status)
        )
        return call, result


def _decisions_of(answer: Any) -> list[Any]:
    """Return the decisions of an answer.

    Raises:
        ValueError: If they are no list of dicts.
    """
    given = answer.get("decisions") if isinstance(answer, dict) else None
    if given is None:
        return []
    if not isinstance(given, list) or not all(isinstance(item, dict) for item in given):
        message = "decisions has to be a list of dicts such as {'type': 'approve'}"
        raise ValueError(message)
    return given
