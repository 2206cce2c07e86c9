package otlp

// The form of an export request of OTLP in JSON, as far as it is used here
// (opentelemetry-proto, ExportTraceServiceRequest).

const (
	internal = 1 // the kind of a span within a program
	failed   = 2 // the status of one that failed
)

type span struct {
	TraceID    string      `json:"traceId"`
	SpanID     string      `json:"spanId"`
	Parent     string      `json:"parentSpanId,omitempty"`
	Name       string      `json:"name"`
	Kind       int         `json:"kind"`
	Start      string      `json:"startTimeUnixNano"`
	End        string      `json:"endTimeUnixNano"`
	Attributes []attribute `json:"attributes"`
	Status     *status     `json:"status,omitempty"`
}

type status struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

type attribute struct {
	Key   string `json:"key"`
	Value value  `json:"value"`
}

type value struct {
	Text string `json:"stringValue"`
}

func text(key, v string) attribute { return attribute{key, value{v}} }

type object = map[string]any

// export wraps spans as a collector wants them.
func export(service string, spans []span) object {
	return object{"resourceSpans": []object{{
		"resource":   object{"attributes": []attribute{text("service.name", service)}},
		"scopeSpans": []object{{"scope": object{"name": "github.com/webrace/webrace/pipeline"}, "spans": spans}},
	}}}
}
