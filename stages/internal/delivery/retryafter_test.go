package delivery

import (
	"net/http"
	"testing"
	"time"
)

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for field, want := range map[string]time.Duration{
		"": 0, "7": 7 * time.Second, "-7": 0, "soon": 0, "Fri, 02 Jan 2026 03:05:05 GMT": time.Minute, "Fri, 02 Jan 2026 03:03:05 GMT": 0, "99999999999999999999": 0,
	} {
		if got := RetryAfter(http.Header{"Retry-After": {field}}, now); got != want {
			t.Errorf("Retry-After: %s is %v, want %v", field, got, want)
		}
	}
}
