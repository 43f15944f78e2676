// The published schemas of OpenAI's events (openai.schema.json, a part of openai/openai-openapi, MIT).
import { readFileSync } from 'node:fs';
import Ajv2020 from 'ajv/dist/2020.js';

const doc = JSON.parse(readFileSync(new URL('./openai.schema.json', import.meta.url)));
// The published schema allows null almost nowhere, although the service sends it; the other keywords are OpenAPI's own.
const normalise = (o) => {
  if (!o || typeof o !== 'object') return;
  if (o.nullable === true && typeof o.type === 'string') {
    o.type = [o.type, 'null'];
    if (o.enum) o.enum.push(null);
  }
  if (typeof o.nullable === 'boolean') delete o.nullable;
  if (o.discriminator && typeof o.discriminator === 'object') delete o.discriminator;
  if (Array.isArray(o.oneOf)) { o.anyOf = o.oneOf; delete o.oneOf; }
  Object.values(o).forEach(normalise);
};
normalise(doc.components.schemas);
const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false, logger: false });
ajv.addSchema(doc, 'oa');

function names(union) {
  const byType = {};
  for (const { $ref } of doc.components.schemas[union]?.anyOf ?? []) {
    const name = $ref.split('/').pop();
    const type = doc.components.schemas[name].properties.type;
    byType[type.const ?? type.enum[0]] = name;
  }
  return byType;
}
export const serverEvents = names('RealtimeServerEvent');
export const clientEvents = names('RealtimeClientEvent');

const noNulls = (o) => {
  if (Array.isArray(o)) return o.map(noNulls);
  if (!o || typeof o !== 'object') return o;
  return Object.fromEntries(Object.entries(o).filter(([, v]) => v !== null).map(([k, v]) => [k, noNulls(v)]));
};
// Why the event is not valid; '' when it is.
export function invalid(event, byType) {
  if (!byType[event.type]) return `${event.type} is no such event`;
  if (ajv.validate(`oa#/components/schemas/${byType[event.type]}`, noNulls(event))) return '';
  return `${event.type}: ${ajv.errors.slice(0, 3).map((e) => `${e.instancePath} ${e.message}`).join('; ')}`;
}
// Why the value does not have the schema of this name; '' when it does.
export function unlike(value, name) {
  // A union of events is told apart by the type, so that an error speaks of one schema.
  const member = doc.components.schemas[name].anyOf?.map((x) => x.$ref.split('/').pop())
    .find((x) => { const t = doc.components.schemas[x].properties?.type; return t && (t.const ?? t.enum?.[0]) === value.type; });
  const id = `oa#/components/schemas/${member ?? name}`;
  if (ajv.validate(id, value) || ajv.validate(id, noNulls(value))) return '';
  return `${name} ${value.type ?? ''}: ${ajv.errors.slice(0, 3).map((e) => `${e.instancePath} ${e.message}`).join('; ')}`;
}
// A value that has the schema of this name: what is required, and ids.
export function sample(name) { return made(doc.components.schemas[name], 0); }
function made(s, depth) {
  if (s.$ref) return made(doc.components.schemas[s.$ref.split('/').pop()], depth + 1);
  if ('const' in s) return s.const;
  if (s.enum) return s.enum[0];
  if (s.allOf) return Object.assign({}, ...s.allOf.map((x) => made(x, depth + 1)));
  if (s.anyOf) return made(s.anyOf.find((x) => x.type !== 'null') ?? s.anyOf[0], depth + 1);
  const type = Array.isArray(s.type) ? s.type[0] : s.type;
  if (type === 'array') return s.minItems ? [made(s.items, depth + 1)] : [];
  if (type === 'object' || s.properties) return Object.fromEntries([...new Set([...(s.required ?? []), ...['id', 'status'].filter((k) => s.properties?.[k])])].map((k) => [k, made(s.properties?.[k] ?? {}, depth + 1)]));
  return { string: 'text', integer: 1, number: 1, boolean: true }[type] ?? 'text';
}
const resolved = (s) => (s.$ref ? doc.components.schemas[s.$ref.split('/').pop()] : s);
// The schemas of a union, unions in it resolved.
export function members(name) {
  const walk = (s) => (s.anyOf && !s.properties ? s.anyOf.flatMap((x) => walk(resolved(x))) : [s]);
  return walk(doc.components.schemas[name]);
}
// The values of `type` of its members, without double ones.
export function types(name) {
  return [...new Set(members(name).map((s) => s.properties?.type).filter(Boolean).flatMap((t) => t.const ?? t.enum ?? (t.anyOf ?? []).map((x) => x.const ?? x.enum?.[0]).filter(Boolean)))];
}
export const properties = (name) => doc.components.schemas[name].properties;
// One event of each type of a union, by its type.
export const samples = (union) => Object.fromEntries((doc.components.schemas[union].anyOf ?? []).map(({ $ref }) => {
  const name = $ref.split('/').pop();
  const { const: one, enum: many } = doc.components.schemas[name].properties.type;
  return [one ?? many[0], { ...sample(name), type: one ?? many[0] }];
}));
