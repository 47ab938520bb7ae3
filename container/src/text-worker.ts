/** What a thread runs that reads large bodies, of requests and answers of the model server, to tensors, and fits these. */
import { answerReply, type ReplyResult, type ReplyTask } from './backends/rest/reply-thread.ts';
import { type ArrayTask, answerArray } from './codecs/array-thread.ts';
import { answerBody, type BodyTask, type HandedRequest } from './codecs/body-thread.ts';
import { answerFit, type FitTask } from './codecs/fit-thread.ts';
import { answerTasks } from './threads/answer-tasks.ts';

type Task = BodyTask | ReplyTask | ArrayTask | FitTask;

answerTasks<Task, HandedRequest | ReplyResult>((task) => {
  if (task.kind === 'reply') return answerReply(task);
  if (task.kind === 'fit') return answerFit(task);
  return task.kind === 'array' ? answerArray(task) : answerBody(task);
});
