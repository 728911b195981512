"""Small things users import by LangChain's names; what the package itself needs stands elsewhere."""

from dragoman.utils.env import (
    convert_to_secret_str,
    from_env,
    get_from_dict_or_env,
    get_from_env,
    secret_from_env,
)
from dragoman.utils.formatting import StrictFormatter, formatter
from dragoman.utils.input import get_bolded_text, get_color_mapping, get_colored_text, print_text
from dragoman.utils.iter import abatch_iterate, batch_iterate
from dragoman.utils.strings import (
    comma_list,
    sanitize_for_postgres,
    stringify_dict,
    stringify_value,
)

__all__ = [
    "StrictFormatter",
    "abatch_iterate",
    "batch_iterate",
    "comma_list",
    "convert_to_secret_str",
    "formatter",
    "from_env",
    "get_bolded_text",
    "get_color_mapping",
    "get_colored_text",
    "get_from_dict_or_env",
    "get_from_env",
    "print_text",
    "sanitize_for_postgres",
    "secret_from_env",
    "stringify_dict",
    "stringify_value",
]
