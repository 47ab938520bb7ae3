/** What a thread runs that reads large text: bodies of requests and answers of the model server, to tensors. */
import { answerReply, type ReplyResult, type ReplyTask } from './backends/rest/reply-thread.ts';
import { answerBody, type BodyTask, type HandedRequest } from './codecs/body-thread.ts';
import { answerTasks } from './threads/answer-tasks.ts';

answerTasks<BodyTask | ReplyTask, HandedRequest | ReplyResult>((task) =>
  task.kind === 'reply' ? answerReply(task) : answerBody(task),
);
