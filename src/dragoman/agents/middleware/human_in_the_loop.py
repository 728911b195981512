"""Asks a person before certain tools run."""

from collections.abc import Callable, Iterable
from typing import Any, Literal, NotRequired, cast, get_type_hints

from typing_extensions import TypedDict

from dragoman.agents.calls import last_reply, open_calls
from dragoman.agents.control import interrupt
from dragoman.agents.middleware.types import AgentMiddleware
from dragoman.agents.runtime import Runtime
from dragoman.errors import short
from dragoman.messages import ToolCall, ToolMessage

__all__ = [
    "Action",
    "ActionRequest",
    "ApproveDecision",
    "Decision",
    "DecisionType",
    "EditDecision",
    "HITLRequest",
    "HITLResponse",
    "HumanInTheLoopMiddleware",
    "InterruptOnConfig",
    "RejectDecision",
    "RespondDecision",
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


class ApproveDecision(TypedDict):
    """The call runs as it is."""

    type: Literal["approve"]


class EditDecision(TypedDict):
    """Another call runs in its place."""

    type: Literal["edit"]
    edited_action: Action


class RejectDecision(TypedDict):
    """The call does not run; the model is told, with a reason if there is one."""

    type: Literal["reject"]
    message: NotRequired[str]


class RespondDecision(TypedDict):
    """The call does not run; the message is its result."""

    type: Literal["respond"]
    message: str


Decision = ApproveDecision | EditDecision | RejectDecision | RespondDecision


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
        interrupt_on: From a tool's name to True, False or a config. The agent warns of names that none
            of its tools has.
        description_prefix: Stands in front of the description of each call.

    Raises:
        TypeError: If `interrupt_on` is no dict of these.
        ValueError: If a config lacks `allowed_decisions`, or has a key or a decision that is unknown.
    """

    def __init__(
        self,
        interrupt_on: dict[str, bool | InterruptOnConfig],
        *,
        description_prefix: str = "Tool execution requires approval",
    ) -> None:
        given: Any = interrupt_on
        if not isinstance(given, dict):
            message = (
                "interrupt_on has to be a dict such as {'tool_name': True}, got "
                f"{type(given).__name__}"
            )
            raise TypeError(message)
        self.interrupt_on: dict[str, InterruptOnConfig] = {
            name: _config(name, config) for name, config in given.items() if config is not False
        }
        self.description_prefix = description_prefix

    def named_tools(self) -> list[str]:
        """Return the names in `interrupt_on`."""
        return list(self.interrupt_on)

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
                f"tool calls ({len(asked)}). {_wanted(len(asked))}"
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


def _config(name: Any, given: Any) -> InterruptOnConfig:
    """Return what was given for one tool as a config.

    Raises:
        TypeError: If it is neither True, False nor a dict.
        ValueError: If it lacks `allowed_decisions`, or has a key or a decision that is unknown.
    """
    if given is True:
        return InterruptOnConfig(allowed_decisions=list(_ALL))
    where = f"interrupt_on[{short(name)}]"
    if not isinstance(given, dict):
        message = f"{where} has to be True, False or a dict, got {type(given).__name__}"
        raise TypeError(message)
    config = cast("dict[Any, Any]", given)
    _check_known(f"{where} has the unknown key", config, get_type_hints(InterruptOnConfig))
    decisions = config.get("allowed_decisions")
    if not isinstance(decisions, list | tuple) or not decisions:
        message = f"{where} needs allowed_decisions, a list of some of {', '.join(_ALL)}"
        raise ValueError(message)
    _check_known(f"{where} allows the unknown decision", cast("list[Any]", decisions), _ALL)
    return cast("InterruptOnConfig", config)


def _check_known(problem: str, names: Iterable[Any], known: Iterable[str]) -> None:
    from difflib import get_close_matches

    for name in names:
        if name not in (choices := list(known)):
            near = get_close_matches(str(name), choices, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(choices)}"
            message = f"{problem} {short(name)}; {hint}"
            raise ValueError(message)


def _wanted(n_calls: int) -> str:
    """Return how to answer."""
    decisions = ", ".join(["{'type': 'approve'}"] * min(n_calls, 2)) + ", ..." * (n_calls > 2)
    return f"Resume with Command(resume={{'decisions': [{decisions}]}})."


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
