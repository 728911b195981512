"""A thread is folded as `add_messages` would reduce it."""

from hypothesis import given
from hypothesis import strategies as st

from dragoman.messages import REMOVE_ALL_MESSAGES, AIMessage, RemoveMessage
from dragoman.threads import MemoryThreads
from dragoman.threads.snapshot import Entry, fold_entries
from dragoman.transcript import add_messages

IDS = st.sampled_from("abcdef")
UPDATES = st.lists(
    st.lists(
        st.one_of(
            st.builds(AIMessage, st.text(max_size=3), id=IDS),
            st.builds(RemoveMessage, id=IDS),
            st.just(RemoveMessage(id=REMOVE_ALL_MESSAGES)),
        ),
        min_size=1,
        max_size=4,
    ),
    max_size=5,
)


@given(UPDATES)
def test_the_fold_of_appends_equals_add_messages(updates):
    state, entries = [], []
    for update in updates:
        try:
            state = add_messages(state, update)
        except ValueError:  # it removes what is not there; a thread does not mind
            continue
        entries.append(Entry("h", None, 1, None, 0.0, update, {}))
    assert fold_entries(entries)[0] == state


def test_removing_and_adding_in_one_append_keeps_the_place():
    thread = MemoryThreads().thread("t")
    thread.append([AIMessage("1", id="a"), AIMessage("2", id="b")])
    thread.append([RemoveMessage(id="a"), AIMessage("new", id="a")])
    assert [m.content for m in thread.load().messages] == ["new", "2"]
    thread.append([RemoveMessage(id="a")])
    thread.append([AIMessage("last", id="a")])
    assert [m.content for m in thread.load().messages] == ["2", "last"]
