/**
 * A watermark is a hash that never expires: key, rev, fence, at, id. The clear key is there for people, and to notice
 * another key under the same name.
 *
 * KEYS  the watermark
 * Reply: {} if there is none, else {key, rev, fence, at, id}
 */
export const readScript = `
local fields = redis.call('HMGET', KEYS[1], 'key', 'rev', 'fence', 'at', 'id')
return fields[2] and fields or {}
`;

/**
 * KEYS  the watermark
 * ARGV  expected rev (0: none), key, fence, at, id
 * Reply: {1, rev} written; {0, fence} a larger fence was here; else what `readScript` replies, after a -1
 */
export const writeScript = `
local K, expected, fence = KEYS[1], ARGV[1], ARGV[3]
local key, rev, stored, at, id = unpack(redis.call('HMGET', K, 'key', 'rev', 'fence', 'at', 'id'))

-- Fences may be longer than Lua's numbers are exact: decimal digits compare by length, then as text.
if stored and (#stored > #fence or (#stored == #fence and stored > fence)) then return { 0, stored } end
if (rev or '0') ~= expected or (key and key ~= ARGV[2]) then
  return rev and { -1, key, rev, stored, at, id } or { -1 }
end
local next = string.format('%.0f', tonumber(expected) + 1)
redis.call('HSET', K, 'key', ARGV[2], 'rev', next, 'fence', fence, 'at', ARGV[4], 'id', ARGV[5])
return { 1, next }
`;
