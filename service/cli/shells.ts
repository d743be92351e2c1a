/** The shells: their completion scripts, and how each of them reads candidates. */

/** What may come next on a command line. */
export interface Candidate {
  value: string;
  /** For a person; empty: none. */
  description: string;
}

/** `files`: the shell completes the names of files. */
export type Completion = Candidate[] | 'files';

/** Instead of candidates: the shell is to complete the names of files. */
const FILES = ':files';

/** Words of a line up to the cursor, the last one unfinished: quotes and backslashes as in POSIX shells. */
export const splitLine = (line: string): string[] => {
  const words: string[] = [''];
  let quote = '';
  for (let index = 0; index < line.length; index += 1) {
    const character = line[index] ?? '';
    const last = words.length - 1;
    if (character === '\\' && quote !== "'") words[last] += line[++index] ?? '';
    else if (quote === '' ? /["']/.test(character) : character === quote) quote = quote === '' ? character : '';
    else if (quote === '' && /\s/.test(character)) {
      if (words[last] !== '' || /["']/.test(line[index - 1] ?? '')) words.push('');
    } else words[last] += character;
  }
  return words;
};

interface Shell {
  /** What `source` reads. */
  script: string;
  /** The words after the program, from the script's arguments. */
  words(passed: readonly string[]): string[];
  /** The output for the script. */
  print(completion: Completion): string[];
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ');

/** Readline breaks words at colons, so what stands before the last one is left out (bash(1), COMP_WORDBREAKS). */
const bash = `_signage() {
  local line=\${COMP_LINE:0:COMP_POINT} reply=() before= each
  while IFS= read -r each; do reply+=("$each"); done < <(signage complete bash "$line" 2>/dev/null)
  COMPREPLY=()
  if [[ \${reply[0]} == ${FILES} ]]; then
    compopt -o default
    return
  fi
  each=\${line##*[[:space:]]}
  if [[ $COMP_WORDBREAKS == *:* && $each == *:* ]]; then before=\${each%"\${each##*:}"}; fi
  for each in "\${reply[@]}"; do COMPREPLY+=("\${each#"$before"}"); done
}
complete -F _signage signage
`;

const zsh = `#compdef signage
_signage() {
  local -a reply
  reply=("\${(@f)$(signage complete zsh "\${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ $reply[1] == ${FILES} ]]; then
    _files
  elif [[ -n $reply[1] ]]; then
    _describe -t signage signage reply
  fi
}
if [[ $funcstack[1] == _signage ]]; then
  _signage "$@"
else
  compdef _signage signage
fi
`;

const fish = `function __signage_complete
    set -l last (commandline -ct)
    set -l reply (signage complete fish (commandline -opc)[2..-1] "$last" 2>/dev/null)
    if test "$reply[1]" = ${FILES}
        __fish_complete_path "$last"
    else
        printf '%s\\n' $reply
    end
end
complete -c signage -f -a '(__signage_complete)'
`;

export const shells: Readonly<Record<string, Shell>> = {
  bash: {
    script: bash,
    words: ([line = '']) => splitLine(line).slice(1),
    print: (completion) => (completion === 'files' ? [FILES] : completion.map(({ value }) => value)),
  },
  zsh: {
    script: zsh,
    words: (passed) => [...passed],
    print: (completion) =>
      completion === 'files'
        ? [FILES]
        : completion.map(({ value, description }) =>
            [value.replaceAll(':', '\\:'), oneLine(description)].filter((part) => part !== '').join(':'),
          ),
  },
  fish: {
    script: fish,
    words: (passed) => [...passed],
    print: (completion) =>
      completion === 'files'
        ? [FILES]
        : completion.map(({ value, description }) =>
            [value, oneLine(description)].filter((part) => part !== '').join('\t'),
          ),
  },
};
