package limit

// RedisPatience is how long requests wait for a server that OpenRedis returned.
const RedisPatience = redisPatience

// OpenRedisFor is OpenRedis, but requests wait longer or shorter for the server.
var OpenRedisFor = openRedis
