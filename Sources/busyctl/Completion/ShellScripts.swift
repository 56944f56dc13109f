// SPDX-License-Identifier: MIT

// The names of controls are asked of the daemon when the user presses the key; asking never starts it.

/// The parts that the scripts of all shells are made of.
private enum Words {
  static let liveNames = "busyctl list --format='{{name}}' 2>/dev/null"
  static let commands = CommandTable.all.map(\.name)

  /// The long options of a command, with `=` behind those that want a value.
  static func options(_ specs: [OptionSpec]) -> [String] {
    specs.map { spec in
      switch spec.value {
      case .text, .choice: "--\(spec.name)="
      case nil, .optional: "--\(spec.name)"
      }
    }
  }

  static func quote(_ text: String) -> String {
    "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''")
      + "'"
  }
}

/// The script for bash.
enum BashCompletion {
  static var script: String {
    """
    # bash completion for busyctl; made by “busyctl completion bash”.
    # shellcheck shell=bash disable=SC2207
    _busyctl_names() {
      local name
      local IFS=$'\\n'
      for name in $(\(Words.liveNames)); do
        [[ $name == "$1"* ]] && COMPREPLY+=("$(printf '%q' "$name")")
      done
    }

    _busyctl() {
      local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
      local command= position=0 start=0 index word option= options= choices= kinds=
      COMPREPLY=()
      for ((index = 1; index < COMP_CWORD; index++)); do
        word=${COMP_WORDS[index]}
        case $word in
          --format | --color) ((index++)); [[ ${COMP_WORDS[index]} == = ]] && ((index++)) ;;
          -* | =) ;;
          *) command=$word; start=$index; break ;;
        esac
      done
      # “--option=value” comes in three words.
      if [[ $current == = ]]; then
        option=$previous current=
      elif [[ $previous == = ]]; then
        option=${COMP_WORDS[COMP_CWORD - 2]}
      elif [[ $previous == --* && $current != -* ]]; then
        option=$previous
      fi
      case $command in
    \(caseArms)
      esac
      if [[ -n $option ]]; then
        case "$command $option" in
    \(choiceArms)
        esac
        if [[ -n $choices ]]; then
          COMPREPLY=($(compgen -W "$choices" -- "$current"))
          return
        fi
        [[ $options == *"$option="* ]] && return
      fi
      if [[ $command == run && $current != -* ]]; then
        for ((index = start + 1; index < COMP_CWORD; index++)); do
          case ${COMP_WORDS[index]} in
            -* | =) ;;
            *) [[ ${COMP_WORDS[index - 1]} == @(=|--name|--title|--grace|--minimum) ]] && continue
              _busyctl_command "$index"; return ;;
          esac
        done
        COMPREPLY=($(compgen -c -- "$current"))
        return
      fi
      if [[ $current == -* ]]; then
        COMPREPLY=($(compgen -W "$options" -- "$current"))
        [[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace
        return
      fi
      if [[ -z $command ]]; then
        COMPREPLY=($(compgen -W "\(Words.commands.joined(separator: " "))" -- "$current"))
        return
      fi
      for ((index = start + 1; index < COMP_CWORD; index++)); do
        [[ ${COMP_WORDS[index]} == -* || ${COMP_WORDS[index]} == = ]] && continue
        [[ ${COMP_WORDS[index - 1]} == = ]] && continue
        [[ ${COMP_WORDS[index - 1]} == --* && $options == *"${COMP_WORDS[index - 1]}="* ]] && continue
        ((position++))
      done
      local -a list=($kinds)
      word=${list[position]-${list[${#list[@]} - 1]-}}
      [[ $position -ge ${#list[@]} && $kinds != *+ ]] && word=
      case ${word%+} in
        name) _busyctl_names "$current" ;;
        -) ;;
        *) COMPREPLY=($(compgen -W "${word//|/ }" -- "$current")) ;;
      esac
    }

    # Completes the words behind “run” as if they stood alone.
    _busyctl_command() {
      if declare -F _command_offset >/dev/null; then
        _command_offset "$1"
      else
        COMPREPLY=($(compgen -f -- "${COMP_WORDS[COMP_CWORD]}"))
      fi
    }

    complete -F _busyctl busyctl
    """
  }

  private static var caseArms: String {
    let global = Words.options(GlobalOptions.all).joined(separator: " ")
    let arms = CommandTable.all.map { command in
      let options = (Words.options(command.options) + [global]).joined(separator: " ")
      let kinds = command.operands.map(kind).joined(separator: " ")
      return "    \(command.name)) options='\(options)' kinds='\(kinds)' ;;"
    }
    return (arms + ["    *) options='\(global)' ;;"]).joined(separator: "\n")
  }

  private static func kind(_ operand: OperandSpec) -> String {
    let repeats = operand.count == .any || operand.count == .atLeastOne ? "+" : ""
    switch operand.kind {
    case .control: return "name" + repeats
    case .words(let words): return words.joined(separator: "|") + repeats
    case .busyctlCommand: return Words.commands.joined(separator: "|")
    case .text, .command: return "-" + repeats
    }
  }

  private static var choiceArms: String {
    var arms: [String] = []
    for command in CommandTable.all {
      for case let option in command.options {
        guard case .choice(let words) = option.value else { continue }
        let list = words.joined(separator: " ")
        arms.append("      \"\(command.name) --\(option.name)\") choices='\(list)' ;;")
      }
    }
    arms.append("      *' --color') choices='auto always never' ;;")
    arms.append("      *' --format') choices='waybar' ;;")
    return arms.joined(separator: "\n")
  }
}

/// The script for zsh.
enum ZshCompletion {
  static var script: String {
    """
    #compdef busyctl
    # zsh completion for busyctl; made by “busyctl completion zsh”.
    _busyctl_names() {
      local -a names
      names=("${(@f)$(\(Words.liveNames))}")
      names=(${names:#})
      (( $#names )) && compadd -a names
    }

    _busyctl_commands() {
      local -a commands
      commands=(
    \(commandList)
      )
      _describe -t commands command commands
    }

    _busyctl() {
      local curcontext=$curcontext state line
      typeset -A opt_args
      _arguments -C \\
    \(arguments(GlobalOptions.all, indent: "    ")) \\
        '1: :_busyctl_commands' '*:: :->operands'
      [[ $state == operands ]] || return
      case $words[1] in
    \(caseArms)
      esac
    }

    if [[ $funcstack[1] == _busyctl ]]; then
      _busyctl "$@"
    else
      compdef _busyctl busyctl
    fi
    """
  }

  private static var commandList: String {
    CommandTable.all.map { "    " + Words.quote("\($0.name):\(escape($0.summary))") }
      .joined(separator: "\n")
  }

  private static var caseArms: String {
    CommandTable.all.map { command in
      let operands = command.operands.enumerated().map { index, operand in
        "      " + self.operand(operand, index + 1)
      }
      let options = arguments(command.options + GlobalOptions.all, indent: "      ")
      let flags = command.stopsAtOperand ? "-A '-*' " : ""
      let lines = ["    \(command.name)) _arguments \(flags)\\", options]
      return (lines + operands).enumerated().map { index, line in
        index == 0 ? line : index == lines.count + operands.count - 1 ? line + " ;;" : line + " \\"
      }.joined(separator: "\n")
    }.joined(separator: "\n")
  }

  private static func arguments(_ options: [OptionSpec], indent: String) -> String {
    options.map { option in
      let help = "[\(escape(option.help))]"
      let text =
        switch option.value {
        case nil: "--\(option.name)\(help)"
        case .text(let placeholder): "--\(option.name)=\(help):\(escape(placeholder)): "
        case .optional(let placeholder): "--\(option.name)=-\(help)::\(escape(placeholder)): "
        case .choice(let words): "--\(option.name)=\(help):word:(\(words.joined(separator: " ")))"
        }
      return indent + Words.quote(text)
    }.joined(separator: " \\\n")
  }

  private static func operand(_ operand: OperandSpec, _ position: Int) -> String {
    let place =
      switch operand.count {
      case .one: "\(position)"
      case .optional: "\(position):"
      case .any, .atLeastOne: "*"
      }
    let action =
      switch operand.kind {
      case .control: "_busyctl_names"
      case .text: " "
      case .words(let words): "(\(words.joined(separator: " ")))"
      case .command: ":_normal"
      case .busyctlCommand: "_busyctl_commands"
      }
    let name = escape(operand.name)
    if operand.kind == .command { return Words.quote("*::\(name):_normal") }
    return Words.quote("\(place):\(name):\(action)")
  }

  private static func escape(_ text: String) -> String {
    var result = ""
    for character in text {
      if ":[]\\".contains(character) { result.append("\\") }
      result.append(character)
    }
    return result
  }
}

/// The script for fish.
enum FishCompletion {
  static var script: String {
    var lines = [
      "# fish completion for busyctl; made by “busyctl completion fish”.",
      "function __busyctl_names",
      "    \(Words.liveNames)",
      "end",
      "",
      "complete -c busyctl -f",
      "set -l commands \(Words.commands.joined(separator: " "))",
    ]
    for command in CommandTable.all {
      lines.append(
        "complete -c busyctl -n \"not __fish_seen_subcommand_from $commands\""
          + " -a \(command.name) -d \(Words.quote(command.summary))")
    }
    for option in GlobalOptions.all { lines.append("complete -c busyctl" + self.option(option)) }
    for command in CommandTable.all {
      let condition = " -n \"__fish_seen_subcommand_from \(command.name)\""
      for option in command.options {
        lines.append("complete -c busyctl" + condition + self.option(option))
      }
      lines += operands(of: command, condition)
    }
    return lines.joined(separator: "\n")
  }

  private static func option(_ option: OptionSpec) -> String {
    var text = " -l \(option.name)"
    if let short = option.short { text += " -s \(short)" }
    switch option.value {
    case nil, .optional: break
    case .text: text += " -x"
    case .choice(let words): text += " -x -a \(Words.quote(words.joined(separator: " ")))"
    }
    return text + " -d \(Words.quote(option.help))"
  }

  private static func operands(of command: CommandSpec, _ condition: String) -> [String] {
    command.operands.compactMap { operand in
      let list: String
      switch operand.kind {
      case .control: list = "'(__busyctl_names)'"
      case .words(let words): list = Words.quote(words.joined(separator: " "))
      case .busyctlCommand: list = "\"$commands\""
      case .command: list = "'(__fish_complete_subcommand --fcs-skip=2)'"
      case .text: return nil
      }
      return "complete -c busyctl" + condition + " -a " + list
    }
  }
}
