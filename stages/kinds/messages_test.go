package kinds

import (
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/webrace/webrace/internal/channel"
	"github.com/webrace/webrace/pipeline/codec"
	"github.com/webrace/webrace/stages/internal/delivery"
)

// A message comes back whole, but that where it goes is nowhere in what was written, save for the host.
func TestAMessageIsWrittenWithoutItsAddress(t *testing.T) {
	t.Parallel()
	m := &delivery.Message{
		ID: "m1", Owner: "eleni", Transport: delivery.TransportWebhook, Address: channel.NewAddress("https://hooks.example/hush", "hush"),
		Entries: 3, Urgency: 2, Once: true, Unsubscribe: "https://a.example/off/7-A", Subject: "Storm", Text: "text", HTML: "<p>", Method: "POST", MediaType: "application/json", Body: []byte("{}"),
	}
	for i := range reflect.ValueOf(*m).NumField() {
		if reflect.ValueOf(*m).Field(i).IsZero() {
			t.Errorf("this test says nothing of %s", reflect.TypeOf(*m).Field(i).Name)
		}
	}
	kind, header, body, err := codec.Encode(m)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(header)+string(body), "hush") || !strings.Contains(string(header), `"host":"hooks.example"`) {
		t.Errorf("it is written as %s %s", header, body)
	}
	read, err := codec.Decode(kind, header, body)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(m, read, cmpopts.IgnoreFields(delivery.Message{}, "Address")); diff != "" {
		t.Error(diff)
	}
	if _, header, _, _ = codec.Encode(&delivery.Message{}); string(header) != "{}" {
		t.Errorf("nothing is written as %s", header)
	}
}
