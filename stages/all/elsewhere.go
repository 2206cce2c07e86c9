package all

import "github.com/webrace/webrace/pipeline"

// Stages with a client of their own are modules by themselves.
func init() {
	const build = "webrace-run build --with github.com/webrace/webrace/examples/"
	pipeline.RegisterElsewhere(build+"kafka@latest", "kafka-in", "kafka-out")
	pipeline.RegisterElsewhere(build+"redis@latest", "redis-in", "redis-out")
}
