/** The machine's first states: settings are merged over the defaults, and a bad input fails at once. */

import { MACHINE_STATES, RUN_ID_JSONATA } from '@sagemaker-tfs/batch';
import {
  ANSWERS_GLUED,
  CONFLICT_RULES,
  type ConflictRule,
  SETTING_RULES,
  type SettingName,
  type SettingRule,
} from '@sagemaker-tfs/batch/settings';
import { KEEP_FOR_RELEASE } from './begin-states.ts';
import { runFailure } from './function-state.ts';
import { jsonata, literal } from './jsonata.ts';

/** One condition that must hold for setting `name`, as JSONata over `$s`. */
function condition(name: string, rule: SettingRule): { holds: string; wanted: string } {
  const value = `$lookup($s, ${literal(name)})`;
  switch (rule.type) {
    case 'integer':
      return {
        holds: `$type(${value}) = "number" ? (${value} = $floor(${value}) and ${value} >= ${rule.min} and ${value} <= ${rule.max}) : false`,
        wanted: `a whole number from ${rule.min} to ${rule.max}`,
      };
    case 'choice':
      return {
        holds: `${value} in ${literal(rule.choices)}`,
        wanted: rule.choices.join(' or '),
      };
    case 'types':
      return {
        holds: `$type(${value}) = "array" ? $count($filter(${value}, function($t) { $not($type($t.instanceType) = "string" and $type($t.transformAmiVersion) = "string") })) = 0 : false`,
        wanted: 'an array of {instanceType, transformAmiVersion}',
      };
    case 'boolean':
      return { holds: `$type(${value}) = "boolean"`, wanted: 'true or false' };
    case 'map':
      return { holds: `$type(${value}) = "object"`, wanted: 'an object of texts' };
    case 'text':
      return {
        holds: `$type(${value}) = "string" ? $contains(${value}, /${rule.pattern.replaceAll('/', '\\/')}/) : false`,
        wanted: `text such as ${rule.example}`,
      };
  }
}

function check(name: string, rule: SettingRule): string {
  const { holds, wanted } = condition(name, rule);
  return `(${holds}) ? [] : [${literal(`${name}: must be ${wanted}, not `)} & $string($lookup($s, ${literal(name)}))]`;
}

function conflict({ setting, when, problem }: ConflictRule): string {
  return `(${when}) ? [${literal(`${setting}: ${problem}`)}] : []`;
}

/**
 * JSONata that returns `{settings, errors}` of an execution's input.
 * @param defaults texts may hold CloudFormation tokens
 */
function validation(defaults: string): string {
  const names = Object.keys(SETTING_RULES) as SettingName[];
  const checks = [
    ...names.map((name) => check(name, SETTING_RULES[name])),
    ...CONFLICT_RULES.map(conflict),
  ];
  return `(
    $given := $type($states.input) = "object" ? $states.input : {};
    $alone := $exists($given.instanceType) and $not($exists($given.fallbacks));
    $s := $merge([${defaults}, $alone ? { "fallbacks": [] } : {}, $given]);
    $s := (${ANSWERS_GLUED.when}) and $not($exists($given.assembleWith)) ? $merge([$s, { "assembleWith": "Line" }]) : $s;
    $known := ${literal(names)};
    $unknown := $filter($keys($given), function($key) { $not($key in $known) });
    $errors := $append(
      $map($unknown, function($key) { $key & ": is not a setting; known are " & $join($known, ", ") }),
      $reduce([${checks.map((text) => `[${text}]`).join(', ')}], $append, [])
    );
    $run := $s.runId = "" ? ${RUN_ID_JSONATA} : $s.runId;
    { "settings": $merge([$s, { "runId": $run }]), "errors": [$errors] }
  )`;
}

/**
 * `Validate`, `Valid?` and `Invalid input`.
 * @param failure state that takes `{error, reason}`
 */
export function validateStates(defaults: string, next: string, failure: string) {
  return {
    [MACHINE_STATES.validate]: {
      Type: 'Pass',
      Output: jsonata(validation(defaults)),
      Next: 'Valid?',
    },
    'Valid?': {
      Type: 'Choice',
      Choices: [
        {
          Condition: jsonata('$count($states.input.errors) = 0'),
          Assign: KEEP_FOR_RELEASE,
          Output: jsonata('{ "settings": $states.input.settings }'),
          Next: next,
        },
      ],
      Default: 'Invalid input',
    },
    'Invalid input': {
      Type: 'Pass',
      Output: jsonata(runFailure('InvalidInput', '$join($states.input.errors, "; ")')),
      Next: failure,
    },
  };
}
