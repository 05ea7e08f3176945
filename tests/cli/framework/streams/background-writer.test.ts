import { expect, test } from "bun:test";
import { backgroundWriter } from "../../../../cli/framework/streams/background-writer.ts";
import { unreadPipe } from "../../../support/unread-pipe.ts";
import { until } from "../../../support/until.ts";

const line = (number: number) => `${String(number).padStart(999)}\n`;

test("writes in order, goes on while nobody reads, and tells how much was lost", async () => {
  const pipe = unreadPipe();
  let lost = 0;
  const onLost = (texts: number) => {
    lost += texts;
  };
  const writer = backgroundWriter(pipe.fd, { mostChars: 200_000, onLost });
  for (let at = 0; at < 100; at += 1) writer.write(line(at));
  await new Promise((resolve) => setImmediate(resolve));
  // How much of the first hundred is in the pipe by now is the machine's affair.
  for (let at = 100; at < 400; at += 1) writer.write(line(at));
  let read = "";
  await until("all is read", () => {
    read += pipe.read();
    return lost > 0 && read.length === (400 - lost) * 1_000;
  });
  await writer.drained(10_000);
  expect(read).toBe(Array.from({ length: 400 - lost }, (_, at) => line(at)).join(""));
  writer.write("again\n");
  await writer.drained(10_000);
  expect(pipe.read()).toBe("again\n");
  pipe.close();
});

test("a descriptor that cannot be written to is no failure", async () => {
  const pipe = unreadPipe();
  pipe.close();
  const writer = backgroundWriter(pipe.fd, { mostChars: 1_000, onLost: () => {} });
  writer.write("lost\n");
  await writer.drained(10_000);
});
