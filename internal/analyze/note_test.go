package analyze

import (
	"slices"
	"testing"
)

func TestNotes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		before, raised string
		leads, want    bool
	}{
		{"The ferry", "1", false, true}, {"ferry", "12", false, true}, {"ferry", "1,2", false, true}, {"Fähre", "3", false, true}, {"порт", "2", false, true},
		{"bus", "2", false, true}, {"bus", "1", false, true}, {"is", "1", false, true}, {"is", "1, 2", false, true},
		{"is", "2", true, true}, {"m", "2", true, true}, {"ferry", "a", true, true},
		{"m", "2", false, false}, {"m", "1", false, false}, {"60 km", "2", false, false}, {"sin", "2", false, false}, {"Min", "2", false, false},
		{"10", "6", false, false}, {"covid19", "1", false, false}, {"€", "99", false, false}, {"", "1", false, false}, {"ferry ", "1", false, false},
		{"ferry", "1000", false, false}, {"ferry", "a", false, false}, {"ferry", "2+", false, false}, {"ferry", "", false, false},
		{"ferry", "[1]", true, false}, {"ferry", "*", false, false}, {"Prof", "a", false, false}, {"1", "st", false, false},
	} {
		if got := IsNote([]byte(c.before), []byte(c.raised), c.leads); got != c.want {
			t.Errorf("%q behind %q, leads %v: %v", c.raised, c.before, c.leads, got)
		}
	}
}

func TestWordsHaveNoNumbersOfNotes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"The ferry¹ leaves":         {"the", "ferry", "1", "leaves"},
		"Fähre²³ m² km³ H₂O 10⁶":    {"fahre", "23", "m2", "km3", "h2o", "106"},
		"ferry⁹⁹⁹⁹ x¹ sin² 東京¹ ab²": {"ferry9999", "x1", "sin2", "東京", "1", "ab2"},
	} {
		var got []string
		Words([]byte(text), func(_, _ int, folded []byte) bool {
			got = append(got, string(folded))
			return true
		})
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
