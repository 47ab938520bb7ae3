/** Completion scripts for bash, zsh and fish. They hold the whole table: completing starts no program. */
import { quotedWord } from '@sagemaker-tfs/model-packaging/shell-word';
import type { TableOption, TableRow } from './command-table.ts';

/** Shells that can be completed in. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const;

/** The script of a shell. */
export const SCRIPTS: Readonly<
  Record<(typeof SHELLS)[number], (table: readonly TableRow[]) => string>
> = { bash, zsh, fish };

/** Paths of verbs, as the patterns of `case`. */
const pathPatterns = (table: readonly TableRow[]) =>
  table
    .filter(({ path }) => path !== '')
    .map(({ path }) => quotedWord(path))
    .join('|');

/** A `case` branch for each option that takes a value: `bodyOf` what to do at its value. */
function valueBranches(
  table: readonly TableRow[],
  bodyOf: (choices: readonly string[]) => string,
): string {
  const branches = table.flatMap(({ path, options }) =>
    options
      .filter(({ takesValue }) => takesValue)
      .map((option) => ({
        names: namesOf(option).map((name) => quotedWord(`${path}:${name}`)),
        option,
      })),
  );
  return branches
    .map(({ names, option }) => `    ${names.join('|')}) ${bodyOf(option.choices)}; return ;;`)
    .join('\n');
}

const namesOf = ({ long, short }: TableOption) => [long, ...(short ? [short] : [])];

/** Finds the path of verbs before the cursor. `first` and `last` are what the shell's array of words begins and ends with. */
function pathLoop(table: readonly TableRow[], first: number, last: string, words: string): string {
  return `  for ((i = ${first}; i < ${last}; i++)); do
    case "\${path:+$path }\${${words}[i]}" in
      ${pathPatterns(table)}) path="\${path:+$path }\${${words}[i]}" ;;
    esac
  done`;
}

function bash(table: readonly TableRow[]): string {
  const rows = table.map(({ path, verbs, options, choices }) => {
    const names = options.flatMap(namesOf).join(' ');
    const others = [...verbs.map(({ name }) => name), ...choices].join(' ');
    return `    ${quotedWord(path)}) options=${quotedWord(names)}; others=${quotedWord(others)} ;;`;
  });
  return `# bash completion for sagemaker-tfs; load it with: source <(sagemaker-tfs completion bash)
_sagemaker_tfs() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} path='' options='' others='' i
  COMPREPLY=()
  # bash cuts --option=value at the equals sign.
  if [[ $current == '=' ]]; then current=''
  elif [[ $previous == '=' ]]; then previous=\${COMP_WORDS[COMP_CWORD-2]}
  fi
${pathLoop(table, 1, 'COMP_CWORD', 'COMP_WORDS')}
  case "$path:$previous" in
${valueBranches(table, (choices) => (choices.length > 0 ? `mapfile -t COMPREPLY < <(compgen -W ${quotedWord(choices.join(' '))} -- "$current")` : 'true'))}
  esac
  case "$path" in
${rows.join('\n')}
  esac
  if [[ $current == -* ]]; then others=$options; fi
  mapfile -t COMPREPLY < <(compgen -W "$others" -- "$current")
}
# Files where there is nothing else to say.
complete -o bashdefault -o default -F _sagemaker_tfs sagemaker-tfs
`;
}

function zsh(table: readonly TableRow[]): string {
  const described = (name: string, description: string) =>
    quotedWord(`${name.replaceAll(':', '\\:')}:${description}`);
  const rows = table.map(({ path, verbs, options, choices }) => {
    const names = options.flatMap((option) =>
      namesOf(option).map((name) => described(name, option.description)),
    );
    const others = [
      ...verbs.map(({ name, description }) => described(name, description)),
      ...choices.map(quotedWord),
    ];
    return `    ${quotedWord(path)}) options=(${names.join(' ')}); others=(${others.join(' ')}) ;;`;
  });
  return `#compdef sagemaker-tfs
# zsh completion for sagemaker-tfs; load it with: source <(sagemaker-tfs completion zsh)
_sagemaker_tfs() {
  # Not "path", which is zsh's own list of folders.
  local verbs='' previous=\${words[CURRENT-1]} i
  local -a options others
${pathLoop(table, 2, 'CURRENT', 'words').replaceAll('path', 'verbs')}
  case "$verbs:$previous" in
${valueBranches(table, (choices) => (choices.length > 0 ? `others=(${choices.map(quotedWord).join(' ')}); _describe value others` : '_files'))}
  esac
  case "$verbs" in
${rows.join('\n')}
  esac
  if [[ $PREFIX == -* ]]; then _describe -o option options
  elif (( \${#others} )); then _describe verb others
  else _files
  fi
}
# Read from a folder of completions, this file is the function; sourced, it says for which command.
if [[ \${funcstack[1]} == _sagemaker_tfs ]]; then _sagemaker_tfs "$@"
else
  (( \${+functions[compdef]} )) || { autoload -Uz compinit && compinit }
  compdef _sagemaker_tfs sagemaker-tfs
fi
`;
}

/** fish knows \\' and \\\\ in single quotes. */
const fishQuoted = (text: string) => `'${text.replace(/[\\']/g, '\\$&')}'`;

function fish(table: readonly TableRow[]): string {
  const lines = table.flatMap(({ path, verbs, options, choices }) => {
    const at = `complete -c sagemaker-tfs -n ${fishQuoted(`__sagemaker_tfs_at ${fishQuoted(path)}`)}`;
    const names = [...verbs, ...choices.map((name) => ({ name, description: '' }))];
    return [
      ...names.map(
        ({ name, description }) => `${at} -f -a ${fishQuoted(name)} -d ${fishQuoted(description)}`,
      ),
      ...options.map((option) => `${at} ${fishOption(option)}`),
    ];
  });
  const valued = table.flatMap(({ options }) =>
    options.filter(({ takesValue }) => takesValue).flatMap(namesOf),
  );
  const paths = table.filter(({ path }) => path !== '').map(({ path }) => fishQuoted(path));
  return `# fish completion for sagemaker-tfs; load it with: sagemaker-tfs completion fish | source
function __sagemaker_tfs_at
  set -l verbs ''
  set -l skip no
  for word in (commandline -opc)[2..]
    if test $skip = yes
      set skip no
    else if contains -- $word ${[...new Set(valued)].join(' ')}
      set skip yes
    else if contains -- (string trim "$verbs $word") ${paths.join(' ')}
      set verbs (string trim "$verbs $word")
    end
  end
  test "$verbs" = "$argv[1]"
end
${lines.join('\n')}
`;
}

function fishOption({ long, short, description, takesValue, choices }: TableOption): string {
  const value =
    choices.length > 0 ? ` -x -a ${fishQuoted(choices.join(' '))}` : takesValue ? ' -r' : '';
  const brief = short ? ` -s ${short.slice(1)}` : '';
  return `-l ${long.slice(2)}${brief}${value} -d ${fishQuoted(description)}`;
}
