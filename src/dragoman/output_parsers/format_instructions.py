"""What prompts tell a model about the form of its answer; `{schema}` and `{tags}` are filled in."""

__all__ = ["JSON_FORMAT_INSTRUCTIONS", "PYDANTIC_FORMAT_INSTRUCTIONS", "XML_FORMAT_INSTRUCTIONS"]

JSON_FORMAT_INSTRUCTIONS = """STRICT OUTPUT FORMAT: answer with one JSON value that conforms to the JSON schema below, and nothing else.
- No explanation, heading or greeting before or after it.
- No Markdown and no code fences around it.
- No comments and no trailing commas inside it.

For example, for the schema {{"properties": {{"colors": {{"type": "array", "items": {{"type": "string"}}}}}}, "required": ["colors"]}} the answer {{"colors": ["red", "blue"]}} is right, and {{"properties": {{"colors": ["red", "blue"]}}}} is wrong.

The output schema (in a fence for reading only; write none yourself):
```
{schema}
```"""

PYDANTIC_FORMAT_INSTRUCTIONS = """The output should be formatted as a JSON instance that conforms to the JSON schema below.

For example, for the schema {{"properties": {{"colors": {{"type": "array", "items": {{"type": "string"}}}}}}, "required": ["colors"]}} the object {{"colors": ["red", "blue"]}} is well-formatted, and {{"properties": {{"colors": ["red", "blue"]}}}} is not.

Here is the output schema:
```
{schema}
```"""

XML_FORMAT_INSTRUCTIONS = """The output should be formatted as an XML file.
1. Use the tags below; if none are given, choose them yourself.
2. Close every tag that you open, in the right order.

For example, with the tags ["menu", "dish", "price"], "<menu><dish><price>3</price></dish></menu>" is well-formatted; "<menu><dish></menu>" is not, and neither is "<menu><drink></drink></menu>".

Here are the output tags:
```
{tags}
```"""
