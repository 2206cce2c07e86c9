package otlp

import (
	"maps"
	"strings"
	"testing"
)

func TestTheStandardVariables(t *testing.T) {
	t.Parallel()
	type env map[string]string
	for _, c := range []struct {
		env      env
		endpoint string // empty: nothing is sent
		share    float64
		headers  map[string]string
	}{
		{env{}, "", -1, nil},
		{env{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318"}, "http://c:4318/v1/traces", -1, nil},
		{env{"OTEL_EXPORTER_OTLP_ENDPOINT": "https://c/otlp/"}, "https://c/otlp/v1/traces", -1, nil},
		{env{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://d/as/it/is"}, "http://d/as/it/is", -1, nil},
		{env{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c", "OTEL_SDK_DISABLED": "true"}, "", -1, nil},
		{env{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c", "OTEL_TRACES_EXPORTER": "none"}, "", -1, nil},
		{env{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c/", "OTEL_TRACES_SAMPLER_ARG": "0.25"}, "http://c/v1/traces", 0.25, nil},
		{env{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c/", "OTEL_TRACES_SAMPLER": "parentbased_always_on", "OTEL_TRACES_SAMPLER_ARG": "0.25"}, "http://c/v1/traces", 1, nil},
		{env{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c/", "OTEL_TRACES_SAMPLER": "always_off"}, "http://c/v1/traces", 0, nil},
		{env{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c/", "OTEL_EXPORTER_OTLP_HEADERS": "a=1, api-key=x%20y%3D,"}, "http://c/v1/traces", -1, map[string]string{"a": "1", "api-key": "x y="}},
		{env{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c/", "OTEL_EXPORTER_OTLP_HEADERS": "a=1", "OTEL_EXPORTER_OTLP_TRACES_HEADERS": "b=2"}, "http://c/v1/traces", -1, map[string]string{"b": "2"}},
	} {
		s, err := Environment(func(name string) string { return c.env[name] })
		if err != nil {
			t.Errorf("%v: %v", c.env, err)
			continue
		}
		if got := s.Endpoint; got == nil && c.endpoint != "" || got != nil && got.String() != c.endpoint {
			t.Errorf("%v: spans are sent to %v", c.env, got)
		}
		if s.Share != c.share || s.Service != "webrace" || c.headers != nil && !maps.Equal(s.Headers, c.headers) {
			t.Errorf("%v: %+v", c.env, s)
		}
	}
}

func TestAVariableThatIsWrongIsNamedAndNotTold(t *testing.T) {
	t.Parallel()
	for pair, endpoint := range map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT=localhost:4318":             "",
		"OTEL_EXPORTER_OTLP_ENDPOINT=grpc://secret@c":            "",
		"OTEL_EXPORTER_OTLP_ENDPOINT=http:///v1":                 "",
		"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=://secret":           "",
		"OTEL_EXPORTER_OTLP_HEADERS=secret":                      "http://c",
		"OTEL_EXPORTER_OTLP_HEADERS=a b=secret":                  "http://c",
		"OTEL_EXPORTER_OTLP_TRACES_HEADERS=a=secret%zz":          "http://c",
		"OTEL_EXPORTER_OTLP_TRACES_HEADERS=a=secret%0d%0aHost:x": "http://c",
		"OTEL_TRACES_SAMPLER_ARG=2":                              "http://c",
		"OTEL_TRACES_SAMPLER_ARG=NaN":                            "http://c",
		"OTEL_TRACES_SAMPLER=jaeger_remote":                      "http://c",
	} {
		name, value, _ := strings.Cut(pair, "=")
		_, err := Environment(func(asked string) string {
			switch asked {
			case name:
				return value
			case "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT":
				return endpoint
			}
			return ""
		})
		if err == nil || !strings.Contains(err.Error(), name) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", pair, err)
		}
	}
}

// FuzzHeaders wants headers that are accepted to be such as can be sent.
func FuzzHeaders(f *testing.F) {
	for _, seed := range []string{"a=1,b=x%20y", "=", "a", "a=%0a", "ä=1", ",,"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		all, err := headers(func(string) string { return text })
		if err != nil {
			return
		}
		for name, value := range all {
			if !isToken(name) || strings.ContainsAny(value, "\r\n\x00") {
				t.Fatalf("%q: %q", name, value)
			}
		}
	})
}
