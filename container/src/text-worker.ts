/** Entry of a thread that decodes large bodies of requests, and of the model server's answers, to tensors. */
import { answerResults, type ResultsTask } from './backends/rest/examples-thread.ts';
import { answerReply, type ReplyResult, type ReplyTask } from './backends/rest/reply-thread.ts';
import { type ArrayTask, answerArray } from './codecs/array-thread.ts';
import { answerBody, type BodyTask, type HandedRequest } from './codecs/body-thread.ts';
import { answerExample, type ExampleTask } from './codecs/example-thread.ts';
import { answerFit, type FitTask } from './codecs/fit-thread.ts';
import { answerTasks } from './threads/answer-tasks.ts';

type Task = BodyTask | ReplyTask | ResultsTask | ArrayTask | FitTask | ExampleTask;

answerTasks<Task, HandedRequest | ReplyResult | true>((task) => {
  if (task.kind === 'reply') return answerReply(task);
  if (task.kind === 'results') return answerResults(task);
  if (task.kind === 'fit') return answerFit(task);
  if (task.kind === 'example') return answerExample(task);
  return task.kind === 'array' ? answerArray(task) : answerBody(task);
});
