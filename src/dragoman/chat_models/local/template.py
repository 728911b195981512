"""The bundled model's chat template.

The file's own template knows no tools. This one is ChatML, as the model was trained on, with the
tools as JSON lines in the system turn, calls as `<tool_call>` JSON and results as
`<tool_response>` in a user turn: the layout that llama.cpp recognises, so that it builds a grammar
from the tools' schemas and parses the calls natively.

Results that follow each other share one user turn. An assistant's content stands before its calls.
"""

__all__ = ["TEMPLATE"]

TEMPLATE = """\
{%- macro text(content) -%}
    {%- if content is string -%}
        {{- content -}}
    {%- elif content -%}
        {%- for block in content -%}
            {%- if block is string -%}{{- block -}}
            {%- elif block.type == 'text' -%}{{- block.text -}}
            {%- endif -%}
        {%- endfor -%}
    {%- endif -%}
{%- endmacro -%}
{%- set ns = namespace(start=0) -%}
{%- if tools or (messages and messages[0].role in ['system', 'developer']) -%}
    {{- '<|im_start|>system\\n' -}}
    {%- if messages and messages[0].role in ['system', 'developer'] -%}
        {%- set ns.start = 1 -%}
        {{- text(messages[0].content) -}}
        {%- if tools -%}{{- '\\n\\n' -}}{%- endif -%}
    {%- endif -%}
    {%- if tools -%}
        {{- 'You may call functions to answer the user. Their signatures are inside <tools></tools>:\\n<tools>' -}}
        {%- for tool in tools -%}{{- '\\n' -}}{{- tool | tojson -}}{%- endfor -%}
        {{- '\\n</tools>\\n\\nFor each call, write a JSON object with the name and the arguments:\\n' -}}
        {{- '<tool_call>\\n{"name": <name>, "arguments": <arguments>}\\n</tool_call>' -}}
    {%- endif -%}
    {{- '<|im_end|>\\n' -}}
{%- endif -%}
{%- for message in messages[ns.start:] -%}
    {%- if message.role == 'tool' or message.role == 'function' -%}
        {%- if loop.first or loop.previtem.role not in ['tool', 'function'] -%}
            {{- '<|im_start|>user' -}}
        {%- endif -%}
        {{- '\\n<tool_response>\\n' -}}{{- text(message.content) -}}{{- '\\n</tool_response>' -}}
        {%- if loop.last or loop.nextitem.role not in ['tool', 'function'] -%}
            {{- '<|im_end|>\\n' -}}
        {%- endif -%}
    {%- elif message.role == 'assistant' -%}
        {{- '<|im_start|>assistant\\n' -}}{{- text(message.content) -}}
        {%- if message.tool_calls -%}
            {%- for call in message.tool_calls -%}
                {%- if not loop.first or message.content -%}{{- '\\n' -}}{%- endif -%}
                {{- '<tool_call>\\n{"name": "' -}}{{- call.function.name -}}{{- '", "arguments": ' -}}
                {%- if call.function.arguments is string -%}{{- call.function.arguments -}}
                {%- else -%}{{- call.function.arguments | tojson -}}
                {%- endif -%}
                {{- '}\\n</tool_call>' -}}
            {%- endfor -%}
        {%- endif -%}
        {{- '<|im_end|>\\n' -}}
    {%- else -%}
        {{- '<|im_start|>' -}}{{- 'system' if message.role == 'developer' else message.role -}}{{- '\\n' -}}
        {{- text(message.content) -}}{{- '<|im_end|>\\n' -}}
    {%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}{{- '<|im_start|>assistant\\n' -}}{%- endif -%}
"""
