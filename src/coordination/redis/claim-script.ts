/**
 * A claim is one string that expires by itself. Its first letter is its state, and fields with arbitrary characters
 * come last:
 *   C|holder|fence|since|payload|who   a holder works on it, until the key expires
 *   R|fence|since|payload|             its last try failed, and the next may start when the key has expired
 *   D|fence|since|payload|result       done
 *   X|fence|since|payload|error        failed for good
 */

/**
 * KEYS  the counter of fences, the claim
 * ARGV  holder, ms of the lease, payload hash, who
 * Reply: {fence} if it is ours, just now or by an earlier call whose response was lost; else {0, the record, ms until it expires}
 */
export const claimScript = `
local F, K, holder, lease = KEYS[1], KEYS[2], ARGV[1], ARGV[2]
local time = redis.call('TIME')
local value = redis.call('GET', K)
local fence
if value then
  local start = 'C|' .. holder .. '|'
  if string.sub(value, 1, #start) ~= start then return { 0, value, redis.call('PTTL', K) } end
  fence = tonumber(string.match(value, '^C|[^|]*|(%d+)'))
else
  -- Never below the time in microseconds, and so above every fence that was given out before the counter was lost, or
  -- before an old snapshot of it was restored.
  fence = math.max(tonumber(redis.call('GET', F) or 0), time[1] * 1e6 + time[2]) + 1
  redis.call('SET', F, string.format('%.0f', fence))
end
local since = time[1] .. string.format('%03d', math.floor(time[2] / 1000))
local record = table.concat({ 'C', holder, string.format('%.0f', fence), since, ARGV[3], ARGV[4] }, '|')
redis.call('SET', K, record, 'PX', lease)
return { fence }
`;

/**
 * KEYS  the claims
 * ARGV  for each: its record up to the fence, ms of the lease
 * Reply: for each 1, or the record (or "") if it is not ours
 */
export const renewScript = `
local replies = {}
for i = 1, #KEYS do
  local value, start = redis.call('GET', KEYS[i]), ARGV[2 * i - 1]
  if value and string.sub(value, 1, #start) == start then
    redis.call('PEXPIRE', KEYS[i], ARGV[2 * i])
    replies[i] = 1
  else
    replies[i] = value or ''
  end
end
return replies
`;

/**
 * KEYS  the claim
 * ARGV  its record up to the fence, the new record up to the fence, payload hash, result or error, ms to remember
 * Reply: 1 if it is settled in this way, now or by an earlier call whose response was lost; 0 if it is not ours
 */
export const settleScript = `
local K, start, settled, ttl = KEYS[1], ARGV[1], ARGV[2], tonumber(ARGV[5])
local value = redis.call('GET', K) or ''
if string.sub(value, 1, #settled) == settled then return 1 end
if string.sub(value, 1, #start) ~= start then return 0 end
if ttl == 0 then return redis.call('DEL', K) end

local time = redis.call('TIME')
local since = time[1] .. string.format('%03d', math.floor(time[2] / 1000))
redis.call('SET', K, settled .. since .. '|' .. ARGV[3] .. '|' .. ARGV[4], 'PX', ttl)
return 1
`;
