package otlp

import (
	"cmp"
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// Settings are what the standard variables of OpenTelemetry set, as far as they are read here:
//
//	OTEL_EXPORTER_OTLP_TRACES_ENDPOINT   where spans are sent; or
//	OTEL_EXPORTER_OTLP_ENDPOINT          to which v1/traces is added
//	OTEL_EXPORTER_OTLP_TRACES_HEADERS    headers of the requests, NAME=VALUE,…; or OTEL_EXPORTER_OTLP_HEADERS
//	OTEL_SERVICE_NAME                    what the spans are of; webrace where it is not set
//	OTEL_TRACES_SAMPLER                  always_on, always_off, or a share of OTEL_TRACES_SAMPLER_ARG
//	OTEL_TRACES_EXPORTER=none, OTEL_SDK_DISABLED=true   nothing is sent
//
// A variable that is empty is as one that is not set.
type Settings struct {
	Endpoint *url.URL // nil: nothing is sent
	Headers  map[string]string
	Service  string
	Share    float64 // of leases that are followed; less than 0 if nothing is said of it
}

// Environment reads the settings. The error names the variable that is wrong.
func Environment(lookup func(string) string) (Settings, error) {
	s := Settings{Service: cmp.Or(lookup("OTEL_SERVICE_NAME"), "webrace"), Share: -1}
	off := strings.EqualFold(lookup("OTEL_SDK_DISABLED"), "true") || lookup("OTEL_TRACES_EXPORTER") == "none"
	var err error
	if !off {
		s.Endpoint, err = endpoint(lookup)
	}
	if err != nil || s.Endpoint == nil {
		return s, err
	}
	if s.Headers, err = headers(lookup); err != nil {
		return s, err
	}
	s.Share, err = share(lookup)
	return s, err
}

func endpoint(lookup func(string) string) (*url.URL, error) {
	name, path := "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", ""
	if lookup(name) == "" {
		name, path = "OTEL_EXPORTER_OTLP_ENDPOINT", "v1/traces"
	}
	text := lookup(name)
	if text == "" {
		return nil, nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" { // the text may hold a password
		return nil, fmt.Errorf("%s is no address of OTLP over HTTP, such as http://localhost:4318", name)
	}
	if path != "" {
		u = u.JoinPath(path)
	}
	return u, nil
}

func headers(lookup func(string) string) (map[string]string, error) {
	name := "OTEL_EXPORTER_OTLP_TRACES_HEADERS"
	if lookup(name) == "" {
		name = "OTEL_EXPORTER_OTLP_HEADERS"
	}
	all := make(map[string]string)
	for pair := range strings.SplitSeq(lookup(name), ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		key, value, found := strings.Cut(pair, "=")
		key = strings.TrimSpace(key)
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if !found || err != nil || !isToken(key) || strings.ContainsFunc(value, isControl) { // it may hold a secret
			return nil, fmt.Errorf("%s is no list of headers: NAME=VALUE,NAME=VALUE", name)
		}
		all[key] = value
	}
	return all, nil
}

func isControl(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }

// isToken reports whether a text can be the name of a header (RFC 9110, section 5.6.2).
func isToken(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(c rune) bool {
		return c <= ' ' || c >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, c)
	})
}

func share(lookup func(string) string) (float64, error) {
	switch sampler := lookup("OTEL_TRACES_SAMPLER"); strings.TrimPrefix(sampler, "parentbased_") {
	case "always_on":
		return 1, nil
	case "always_off":
		return 0, nil
	case "traceidratio", "":
	default:
		return 0, fmt.Errorf("OTEL_TRACES_SAMPLER=%s: it is always_on, always_off or traceidratio", sampler)
	}
	text := lookup("OTEL_TRACES_SAMPLER_ARG")
	if text == "" {
		return -1, nil
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !(n >= 0 && n <= 1) {
		return 0, fmt.Errorf("OTEL_TRACES_SAMPLER_ARG=%s: it is a share from 0 to 1", text)
	}
	return n, nil
}
