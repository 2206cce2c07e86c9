package match

import "testing"

const (
	germanBlock  = "Die Zeitungen der Stadt sind in den Häusern nicht mehr so wichtig, wie sie es früher waren. Java auch."
	englishBlock = "This is what they print with the printers that we have had for years, and it is in Java."
)

func TestKeywordsFindTheFormsThatAWordHasInTheLanguageOfItsBlock(t *testing.T) {
	t.Parallel()
	page := page800(englishBlock, germanBlock)
	for _, c := range []struct {
		key  string
		hits int
	}{
		{"Zeitung", 1}, {"ZEITUNGEN", 1}, {"Haus", 1}, {"printer", 1}, {"printers", 1}, {"printing", 1}, {"java", 2},
		{"Haus nicht", 1}, {"near:4 Zeitung Stadt", 1},
	} {
		e := explained(t, Profile{Group: keys(Any, c.key)}, page, Options{})
		if got := hits(e, 0); got != c.hits {
			t.Errorf("%s is found %d times, want %d", c.key, got, c.hits)
		}
	}
}

// A word that stands in blocks of two languages is two words to the analysis, and one to who looks for it.
func TestExactKeywordsAreFoundAcrossLanguages(t *testing.T) {
	t.Parallel()
	group := keys(Any, "java 3")
	group.Keywords[0].Exact = true
	e := explained(t, Profile{Group: group}, page800(englishBlock, germanBlock), Options{})
	if got := hits(e, 0); got != 2 {
		t.Errorf("found %d times, want 2", got)
	}
	if want := explained(t, Profile{Group: keys(Any, "java 3")}, page800(englishBlock, germanBlock), Options{}); e.Relevance != want.Relevance {
		t.Errorf("relevance %d, and %d when it need not be exact", e.Relevance, want.Relevance)
	}
}

func TestKeywordsThatSayTheSameFindWhatEachWouldFind(t *testing.T) {
	t.Parallel()
	german := page800("Die Drucker sind in der Stadt und nicht auf dem Land, wie man es sich wünscht.")
	for _, written := range []string{"drucker", "Druckers"} {
		if e := explained(t, Profile{Group: keys(Any, written)}, german, Options{}); hits(e, 0) != 1 {
			t.Errorf("%s is not found", written)
		}
	}
	if e := explained(t, Profile{Group: keys(Any, "Drucker 2", "Druckers 3")}, german, Options{}); len(e.Keywords) != 1 || e.Relevance != 30 {
		t.Errorf("%+v", e)
	}
}
