# SPDX-License-Identifier: GPL-2.0-only
"""The completion scripts of three shells, from the words of the verbs."""

from collections.abc import Iterable, Mapping
from typing import Protocol


class _Words(Protocol):
    help: str
    options: dict[str, list[str]]
    takes_files: bool
    takes_folders: bool
    values: list[str]


_Verbs = Mapping[str, _Words]

_HEADER = "# Completion of gradsync's ./ns3, written by: ./ns3 completion {shell}\n"


def _quoted(words: Iterable[str]) -> str:
    return "'" + " ".join(words).replace("'", "'\\''") + "'"


def bash(verbs: _Verbs) -> str:
    """Of bash 4 and newer, without the package bash-completion."""
    cases = []
    for verb, words in verbs.items():
        lines = [f"        {verb})", f"            options={_quoted(words.options)}"]
        for option, values in words.options.items():
            if values:
                lines.append(f"            [[ $before == {option} ]] && values={_quoted(values)}")
        if words.values:
            lines.append(f"            words={_quoted(words.values)}")
        if words.takes_files:
            lines.append("            files=f")
        if words.takes_folders:
            lines.append("            files=d")
        cases.append("\n".join([*lines, "            ;;"]))
    return (
        _HEADER.format(shell="bash")
        + """\
# In ~/.bashrc: source <(./ns3 completion bash)
_gradsync_ns3() {
    local word before options= values= words= files=
    # Of what stands before the cursor; = and : part words of bash's own, but not of ours.
    local line=${COMP_LINE:0:COMP_POINT}
    local -a typed
    read -ra typed <<<"$line"
    [[ $line == *[[:space:]] ]] && typed+=("")
    word=${typed[-1]} before=${typed[-2]}
    if ((${#typed[@]} < 3)); then
        COMPREPLY=($(compgen -W """
        + _quoted([*verbs, "--help", "--version"])
        + """ -- "$word"))
        return
    fi
    # --option=value is as --option value.
    local name=
    [[ $word == --*=* ]] && name=${word%%=*} before=${word%%=*} word=${word#*=}
    case ${typed[1]} in
"""
        + "\n".join(cases)
        + """
    esac
    if [[ -n $values ]]; then
        COMPREPLY=($(compgen -W "$values" -- "$word"))
    elif [[ -z $name && $word == -* ]]; then
        COMPREPLY=($(compgen -W "$options" -- "$word"))
    elif [[ -n $words ]]; then
        COMPREPLY=($(compgen -W "$words" -- "$word"))
    else
        compopt -o filenames 2>/dev/null
        if [[ $files == f ]]; then
            COMPREPLY=($(compgen -f -X '!*.json' -- "$word") $(compgen -f -X '!*.csv' -- "$word")
                $(compgen -d -- "$word"))
        elif [[ $files == d ]]; then
            COMPREPLY=($(compgen -d -- "$word"))
        else
            COMPREPLY=($(compgen -f -- "$word"))
        fi
    fi
    # bash replaces what follows the last = or : alone.
    local rest=${line##*[[:space:]]}
    if [[ $rest == *[=:]* ]]; then
        local cut=${word%"${word##*[=:]}"}
        COMPREPLY=("${COMPREPLY[@]#"$cut"}")
    fi
}
complete -F _gradsync_ns3 ns3 ./ns3
"""
    )


def zsh(verbs: _Verbs) -> str:
    """Of zsh 5 and newer."""
    cases = []
    for verb, words in verbs.items():
        specs = []
        for option, values in words.options.items():
            wanted = f":value:({' '.join(_plain(value) for value in values)})" if values else ""
            specs.append(f"'*{option}{'=' if wanted else ''}{wanted}'")
        if words.values:
            specs.append(f"'*:word:({' '.join(words.values)})'")
        elif words.takes_files:
            specs.append("'*:file:_files -g \"*.(json|csv)\"'")
        else:
            specs.append("'*:folder:_files -/'" if words.takes_folders else "'*:file:_files'")
        cases.append(f"        {verb}) _arguments -S {' '.join(specs)} ;;")
    described = " ".join(
        f"'{verb}:{words.help.replace(chr(39), chr(39) + chr(92) + chr(39) * 2)}'"
        for verb, words in verbs.items()
    )
    return (
        "#compdef ns3\n"
        + _HEADER.format(shell="zsh")
        + f"""\
# In ~/.zshrc, after compinit: source <(./ns3 completion zsh)
_gradsync_ns3() {{
    local -a verbs
    verbs=({described})
    if ((CURRENT == 2)); then
        _describe verb verbs
        compadd -- --help --version
        return
    fi
    local verb=$words[2]
    shift words
    ((CURRENT--))
    case $verb in
"""
        + "\n".join(cases)
        + """
    esac
}
compdef _gradsync_ns3 ns3 ./ns3
"""
    )


def _plain(value: str) -> str:
    """A value in zsh's list of values."""
    return value.replace(":", "\\:")


def fish(verbs: _Verbs) -> str:
    """Of fish 3 and newer."""
    lines = [
        _HEADER.format(shell="fish")
        + "# In ~/.config/fish/config.fish: ./ns3 completion fish | source",
        "complete -c ns3 -e",
        f"set -l verbs {' '.join(verbs)}",
    ]
    nothing = '"not __fish_seen_subcommand_from $verbs"'
    lines += [f"complete -c ns3 -f -n {nothing} -l {word}" for word in ("help", "version")]
    for verb, words in verbs.items():
        lines.append(f"complete -c ns3 -f -n {nothing} -a {verb} -d {_fish_quoted(words.help)}")
    for verb, words in verbs.items():
        seen = f'-n "__fish_seen_subcommand_from {verb}"'
        for option, values in words.options.items():
            wanted = f" -x -a {_fish_quoted(' '.join(values))}" if values else ""
            lines.append(f"complete -c ns3 {seen} -l {option.removeprefix('--')}{wanted}")
        if words.values:
            lines.append(f"complete -c ns3 -f {seen} -a {_fish_quoted(' '.join(words.values))}")
        elif words.takes_files:
            lines.append(f"complete -c ns3 -f {seen} -a '(__fish_complete_suffix .json)'")
        elif words.takes_folders:
            lines.append(f"complete -c ns3 -f {seen} -a '(__fish_complete_directories)'")
    return "\n".join(lines) + "\n"


def _fish_quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
