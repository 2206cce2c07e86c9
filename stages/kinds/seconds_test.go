package kinds

import (
	"encoding/json"
	"math"
	"testing"
)

func raw(pairs ...string) map[string]json.RawMessage {
	set := make(map[string]json.RawMessage)
	for i := 0; i < len(pairs); i += 2 {
		set[pairs[i]] = json.RawMessage(pairs[i+1])
	}
	return set
}

func TestSecondsAreExact(t *testing.T) {
	for ns, want := range map[seconds]string{
		0: "0", 1: "0.000000001", 1500000000: "1.5", -1: "-0.000000001", 20e9: "20",
		math.MaxInt64: "9223372036.854775807", math.MinInt64: "-9223372036.854775808",
	} {
		text, err := json.Marshal(ns)
		if err != nil || string(text) != want {
			t.Errorf("%d is %s, %v, want %s", ns, text, err, want)
		}
		var back seconds
		if err := json.Unmarshal(text, &back); err != nil || back != ns {
			t.Errorf("%s is %d, %v, want %d", text, back, err, ns)
		}
	}
	var s seconds
	if err := json.Unmarshal([]byte("1.5e1"), &s); err != nil || s != 15e9 {
		t.Errorf("1.5e1 is %d, %v", s, err)
	}
}
