// Whether an answer has the shape that the OpenAPI document promises, as far as control's schemas go.

export function misfits(schema, value, types, at = '') {
  if (schema.$ref) return misfits(types[schema.$ref.split('/').at(-1)], value, types, at);
  if (schema.anyOf) return schema.anyOf.some((s) => !misfits(s, value, types, at).length) ? [] : misfits(schema.anyOf[0], value, types, at);
  const kind = value === null ? 'null' : Array.isArray(value) ? 'array' : Number.isInteger(value) && schema.type === 'integer' ? 'integer' : typeof value;

  if (schema.type && schema.type !== kind) return [`${at} is ${kind}, not ${schema.type}`];
  if (schema.pattern && !new RegExp(schema.pattern).test(value)) return [`${at} is ${value}`];
  if (schema.format === 'date-time' && !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value)) return [`${at} is ${value}`];
  if (kind === 'array') return (schema.items ? value : []).flatMap((v, i) => misfits(schema.items, v, types, `${at}[${i}]`));
  if (!schema.properties) return [];
  const known = schema.properties, lacks = (schema.required || []).filter((name) => !Object.hasOwn(value, name)).map((name) => `${at}.${name} is missing`);

  return [...lacks, ...Object.entries(value).flatMap(([name, v]) => (Object.hasOwn(known, name) ? misfits(known[name], v, types, `${at}.${name}`)
    : [`${at}.${name} is not described`]))];
}
