package delivery_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/delivery"
	"github.com/webrace/webrace/xmlschema"
)

func aci() *xmlschema.ACI {
	return &xmlschema.ACI{
		ID: "a1", Owner: "eleni", URI: "https://a.org/?a=1&b=2", Title: "<b> & ε", Relevance: 70,
		UpdateTime: time.Date(2026, 1, 2, 3, 4, 5, 6, time.FixedZone("", 3600)), Docbase: xmlschema.Docbase{Digest: "sha256:1", Version: 3},
	}
}

// keyOf returns the key of a list of values that is sent as one.
func keyOf(values ...any) string {
	return delivery.Together(delivery.Parcels((&pipeline.Item{Value: values}).From("a place", 1)))
}

func TestTheKeyOfAnAnnotationIsThatOfItsVersion(t *testing.T) {
	t.Parallel()
	later := aci()
	later.Expired, later.Title = true, "the title changed while it waited"
	if keyOf(aci()) != keyOf(later) {
		t.Error("the key of an annotation changes while it waits")
	}
	if keyOf(aci()) != "5c2cd5a3fdda761e276161d50f7adc024738ea3f" {
		t.Errorf("%s is another key than receivers know", keyOf(aci()))
	}
	version, other := aci(), aci()
	version.Docbase.Version++
	other.ID = "a2"
	seen := map[string]int{}
	for i, values := range [][]any{
		{aci()}, {version}, {other}, {aci(), other}, {other, aci()}, {"a1"}, {"a", "a"}, {&webrace.Notice{ID: "n1"}}, {&webrace.Notice{ID: "n2"}}, {},
	} {
		k := keyOf(values...)
		if j, twice := seen[k]; twice {
			t.Errorf("%d and %d have the same key", i, j)
		}
		seen[k] = i
	}
}

// Equal values are two, and what comes again is one.
func TestAKeyIsThatOfTheItem(t *testing.T) {
	t.Parallel()
	parcel := func(value any, number uint64) string {
		return delivery.Parcels((&pipeline.Item{Value: value}).From("file", number))[0].Key
	}
	first, again, second := parcel("a", 1), parcel("a", 1), parcel("a", 2)
	if first != again || first == second {
		t.Errorf("keys %s, again %s, and %s of another", first, again, second)
	}
	list := delivery.Parcels((&pipeline.Item{Value: []any{"a", "a"}}).From("file", 1))
	if list[0].Key == list[1].Key || list[0].Key == "" {
		t.Errorf("the keys of two values of a list are %s and %s", list[0].Key, list[1].Key)
	}
}

func TestAnAnnotationIsWrittenAsTheCommandLinePrintsIt(t *testing.T) {
	t.Parallel()
	got, err := delivery.JSON(aci())
	if err != nil {
		t.Fatal(err)
	}
	want := `{"id":"a1","owner":"eleni","uri":"https://a.org/?a=1&b=2","title":"<b> & ε","relevance":70,` +
		`"update_time":"2026-01-02T02:04:05.000000006Z","docbase":{"digest":"sha256:1","version":3}}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestGroupsAreTakenApart(t *testing.T) {
	t.Parallel()
	got := delivery.Parcels(&pipeline.Item{Value: 1}, &pipeline.Item{Value: []any{2, 3}}, &pipeline.Item{Value: []any{}}, &pipeline.Item{Value: "4"})
	if len(got) != 4 || got[1].Value != 2 || got[3].Value != "4" {
		t.Errorf("got %v", got)
	}
}

func TestExamplesAreNobodysHosts(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]bool{
		"example.org": true, "smtp.example.org": true, "a.example": true, "example": true,
		"anexample.org": false, "example.org.evil.io": false, "hooks.slack.com": false, "": false, "127.0.0.1": false,
	} {
		if got := delivery.Placeholder(host); got != want {
			t.Errorf("%q: %v", host, got)
		}
	}
}

func TestAProgramThatLendsNoSecretsSaysSo(t *testing.T) {
	t.Parallel()
	if _, err := delivery.OpenSecrets(pipeline.NewEnv("p", "hook", nil)); err == nil || !strings.Contains(err.Error(), "hook") {
		t.Errorf("got %v", err)
	}
	if _, err := (delivery.Secrets{}).Get(context.Background(), "s"); err == nil || errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
