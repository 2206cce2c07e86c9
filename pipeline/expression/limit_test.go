package expression

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// A limited condition gives what one without limit gives.
func TestALimitedConditionIsTheSame(t *testing.T) {
	t.Parallel()
	values := map[string]any{
		"list": []any{1, 2, 3, "x"}, "text": strings.Repeat("one two ", 3), "long": strings.Repeat("b", 2*longToSearch) + "ac", "empty": nil,
	}
	for _, text := range []string{
		`any(list, # == 2)`, `all(list, # == 2)`, `any(list, any(list, # == "x"))`, `len(filter(list, # == 1)) == 1`, `count(list, # != 1) == 3`,
		`map(list, string(#)) == ["1", "2", "3", "x"]`, `all(list, # != 9) && all(list, # != 8)`, `find(list, # == 3) == 3`, `sum(list[:3], # * 2) == 12`,
		`text matches "tw."`, `text matches "^two"`, `long matches "ac$"`, `long matches "^a"`, `long matches "b{5}a"`, `empty matches "a"`,
		`any(list, string(#) matches "x|y")`, `not (text matches "x")`, `any(list, let y = #; y == 3)`, `reduce(list[:3], #acc + #) == 6`,
	} {
		plain, err := CompileBool(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		limited, err := CompileLimited(time.Hour, text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		want, wantErr := plain.Bool(values, nil)
		for range 2 { // an evaluation is used again
			if got, err := limited.Bool(values, nil); got != want || (err != nil) != (wantErr != nil) {
				t.Errorf("%s: %t, %v, want %t, %v", text, got, err, want, wantErr)
			}
		}
	}
	for _, text := range []string{`1 + 1`, `nothing(`, `any(list, # matches "(")`} {
		_, want := CompileBool(text)
		if _, err := CompileLimited(time.Hour, text); want != nil && (err == nil || err.Error() != want.Error()) {
			t.Errorf("%s: %v, want %v", text, err, want)
		}
	}
}

// Hours of work end soon.
func TestACostlyConditionIsStopped(t *testing.T) {
	t.Parallel()
	list := make([]any, 300_000)
	for i := range list {
		list[i] = "https://example.org/some/path"
	}
	values := map[string]any{"list": list, "long": strings.Repeat("ab", 4<<20)}
	for _, text := range []string{
		`any(list, any(list, # == "y"))`, `len(filter(list, len(filter(list, # == "y")) > 1)) > 1`, `any(list, any(list, # matches "(x|y)+z"))`,
		`long matches "((a|b).{200}){4}z"`, `sum(list, count(list, # != "")) > 1`,
	} {
		p, err := CompileLimited(20*time.Millisecond, text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		began := time.Now()
		if _, err := p.Bool(values, nil); !errors.Is(err, ErrTakesTooLong) {
			t.Errorf("%s: %v", text, err)
		}
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("%s is stopped after %v", text, took)
		}
	}
}

// A counted condition takes the same steps each time, and gives what one without limit gives where they suffice.
func TestACountedConditionTakesItsSteps(t *testing.T) {
	t.Parallel()
	values := map[string]any{"list": []any{1, 2, 3, 4}}
	for text, want := range map[string]int{`1 < 2`: 0, `any(list, # == 9)`: 4, `all(list, # < 3)`: 3, `all(list, all(list, # > 0))`: 20} {
		plain, err := CompileBool(text)
		if err != nil {
			t.Fatal(err)
		}
		counted, err := CompileCounted(text)
		if err != nil {
			t.Fatal(err)
		}
		holds, _ := plain.Bool(values, nil)
		for range 2 { // an evaluation is used again
			if got, taken, err := counted.BoolWithin(values, nil, want); got != holds || taken != want || err != nil {
				t.Errorf("%s: %t after %d steps, %v; want %t after %d", text, got, taken, err, holds, want)
			}
		}
		if _, _, err := counted.BoolWithin(values, nil, want-1); want > 0 && !errors.Is(err, ErrTakesTooLong) {
			t.Errorf("%s with a step too few: %v", text, err)
		}
	}
	long, err := CompileCounted(`len(1..20000) > 0`)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := long.BoolWithin(nil, nil, 1e6); err == nil {
		t.Error("a long list is built")
	}
	if _, err := CompileCounted(`1 + 1`); err == nil {
		t.Error("a number is a condition")
	}
}
