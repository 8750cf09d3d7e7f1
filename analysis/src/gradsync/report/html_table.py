# SPDX-License-Identifier: GPL-2.0-only
"""Tables for HTML pages."""

from html import escape


def table(head: list[str], rows: list[list[str]], text_columns: int, label: str) -> str:
    """An HTML table that can be scrolled by keyboard; the first columns are text."""

    def cells(row: list[str], tag: str) -> str:
        return "".join(
            f"<{tag}{' class=text' if i < text_columns else ''}>{escape(cell)}</{tag}>"
            for i, cell in enumerate(row)
        )

    body = "".join(f"<tr>{cells(row, 'td')}</tr>" for row in rows)
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(label)}"><table>'
        f"<thead><tr>{cells(head, 'th')}</tr></thead><tbody>{body}</tbody></table></div>"
    )
