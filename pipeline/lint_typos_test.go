package pipeline

import (
	"slices"
	"testing"
)

func TestEveryMisspeltOptionIsFound(t *testing.T) {
	t.Parallel()
	r := configRegistry()
	cases := TypoCases(r)
	var names []string
	for _, c := range cases {
		names = append(names, c.Name)
		if err := c.Verify(r); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"fetch.delay", "fetch.retry.max", "fetch.rule.host", "fetch.realm.password", "store.batch.count", "print.workers"} {
		if !slices.Contains(names, name) {
			t.Errorf("no case for %s in %q", name, names)
		}
	}
	if slices.Contains(names, "fetch.batch.count") {
		t.Error("a case for an option that fetch does not have")
	}
}

func TestAMisspeltOptionThatIsNotFoundIsNoticed(t *testing.T) {
	t.Parallel()
	lenient := NewRegistry()
	RegisterIn(lenient, toySpec("fetch", nil), struct {
		Ddelay int `toml:"ddelay" doc:"an option of the name that a case takes for a typo"`
	}{}, none)
	for _, c := range TypoCases(configRegistry()) {
		if c.Name == "fetch.delay" && c.Verify(lenient) == nil {
			t.Error("Verify is content although nothing was found")
		}
	}
}
