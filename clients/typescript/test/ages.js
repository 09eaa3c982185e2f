// A line to a real agent that makes it look newer or older, by the description (clients/openapi.json).

import { readFileSync } from "node:fs";
import { createServer, request as send } from "node:http";

/** An unknown word, and the name and the value of an unknown field. */
export const [WORD, FIELD, VALUE] = ["later-word", "laterField", { state: "ended", outcome: "approved", of: [{}] }];

const described = JSON.parse(readFileSync(new URL("../../openapi.json", import.meta.url), "utf8"));
const { schemas } = described.components;
const patternOf = (path) => new RegExp(`^${path.replace(/{.+?}/g, "[^/]+")}$`);
const NOT_FOUND = '{ "status": 404, "code": "not-found" }';

/** Follows a reference, and leaves out `null`. */
function whole(schema = {}) {
  if (schema.$ref) return whole(schema.$ref.split("/").slice(1).reduce((one, name) => one[name], described));
  return schema.anyOf ? whole(schema.anyOf[0]) : schema;
}
const isLater = ({ description = "" } = {}) => description.includes("earlier version");

/** The fields that an earlier version lacks, such as `Status.waits`. */
export const LATER = Object.entries(schemas).flatMap(([of, { properties = {} }]) =>
  Object.keys(properties)
    .filter((name) => isLater(properties[name]))
    .map((name) => `${of}.${name}`),
);

/** Changes a value and everything in it. In a map, an unknown field would be an entry, so maps stay as they are. */
function aged(isNewer, value, schema) {
  const { items, properties = {}, additionalProperties } = whole(schema);
  if (Array.isArray(value)) return value.map((one) => aged(isNewer, one, items));
  if (typeof value !== "object" || value === null || additionalProperties) return value;
  const changed = {};
  for (const [name, one] of Object.entries(value)) {
    const isOpen = ["reason", "step"].includes(name) && properties[name] && !whole(properties[name]).enum;
    if (isNewer && isOpen) changed[name] = WORD;
    else if (isNewer || !isLater(properties[name])) changed[name] = aged(isNewer, one, properties[name]);
  }
  return isNewer ? { ...changed, [FIELD]: VALUE } : changed;
}

/** Opens the line. `loses` answers to a begin are dropped, and `cuts` streams are cut inside their third event. */
export async function lineTo(agent, isNewer) {
  const line = { isNewer, loses: 0, cuts: 0, streams: 0 };
  const server = createServer((asked, answer) => {
    const { method, headers } = asked;
    const path = asked.url.replace(/\?.*/, "");
    const ends = (status, type, body) => answer.writeHead(status, { "Content-Type": type }).end(body);
    if (!isNewer && path === "/v1/latest") return ends(404, "application/problem+json", NOT_FOUND);
    const request = send(new URL(asked.url, agent), { method, headers, agent: false }, async (got) => {
      const type = got.headers["content-type"];
      if (type === "text/event-stream") return stream(line, got, answer.writeHead(200, { "Content-Type": type }));
      let body = "";
      for await (const part of got.setEncoding("utf8")) body += part;
      if (line.loses > 0 && method === "POST" && path === "/v1/sales") {
        line.loses -= 1;
        return asked.socket.destroy();
      }
      if (!type.endsWith("json")) return ends(got.statusCode, type, body);
      const [, methods] = Object.entries(described.paths).find(([one]) => patternOf(one).test(path));
      const { content } = whole(methods[method.toLowerCase()].responses[got.statusCode]);
      ends(got.statusCode, type, JSON.stringify(aged(isNewer, JSON.parse(body), content[type].schema)));
    });
    asked.pipe(request.on("error", () => asked.socket.destroy()));
    answer.on("close", () => request.destroy());
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const close = () => (server.close(), server.closeAllConnections());
  return Object.assign(line, { url: `http://127.0.0.1:${server.address().port}`, close });
}

async function stream(line, got, answer) {
  let [id, told, rest] = ["", 0, ""];
  line.streams += 1;
  try {
    for await (const part of got.setEncoding("utf8")) {
      const texts = (rest + part).split("\n");
      rest = texts.pop();
      for (const text of texts) {
        const [, field, value] = /^(\w+): (.*)$/.exec(text) ?? [];
        if (field === "id") id = value;
        if (field === "data" && (told += 1) === 3 && line.cuts > 0) {
          line.cuts -= 1;
          answer.write(text.slice(0, 20));
          return answer.socket.destroySoon();
        }
        answer.write(field === "data" ? changed(line.isNewer, id, JSON.parse(value)) : `${text}\n`);
      }
    }
  } catch {} // the till or the agent has ended the stream
  answer.destroy();
}

/** Returns the data of an event. A newer agent has another event after it. */
function changed(isNewer, id, event) {
  const data = { ...aged(isNewer, event, schemas.Event), step: event.step };
  const later = { ...data, step: WORD, sale: undefined };
  const more = isNewer ? `\nid: ${id}\nevent: ${WORD}\ndata: ${JSON.stringify(later)}\n` : "";
  return `data: ${JSON.stringify(data)}\n${more}`;
}
