package pipeline

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/webrace/webrace/pipeline/finding"
)

// toldKinds are the options of a stage that tells what it is given, and finds fault with it.
type toldKinds struct{ told *[]string }

func (n toldKinds) CheckNames(given []Kind) error {
	*n.told = append(*n.told, kindNames(given))
	return errors.Join(&OptionError{"key", errors.New("one")}, nil, errors.New("another"))
}

// TestWhatTravelsIsKnownBehindStagesThatPassItOn: kinds, the fields of records and what is in lists reach the stage
// that names them.
func TestWhatTravelsIsKnownBehindStagesThatPassItOn(t *testing.T) {
	t.Parallel()
	record := RecordOf("price", "name", "price")
	r := NewRegistry()
	for _, spec := range []Spec{
		toySpec("links", nil, port("", links)), toySpec("records", nil, port("", record)), toySpec("anything", nil, port("", KindOf[any]())),
		toySpec("pass", Kinds(KindOf[any]()), port("", SameAsInput)),
		toySpec("set", Kinds(KindOf[any]()), port("", SameWith("rate"))),
		toySpec("program", Kinds(KindOf[any]()), port("", SameKind)),
		toySpec("lists", Kinds(KindOf[any]()), port("", ListOfInput)),
	} {
		RegisterIn(r, spec, struct{}{}, none)
	}
	for flow, want := range map[string]string{
		"records > pass > names":                   "record (name, price)",
		"records > set > pass > names":             "record (name, price, rate)",
		"records > lists > pass > names":           "list of record (name, price)",
		"records > set > program > names":          "record",
		"records > pass > names; anything > pass":  "record (name, price) or any",
		"links > set > names":                      links.String(),
		"records, links > lists > names":           "list of record (name, price) or list of " + links.String(),
		"records > lists > program > pass > names": "list of record",
		"anything > lists > names":                 "list of any",
	} {
		var told []string
		g := r.NewGraph("toy")
		for _, typ := range r.Types() {
			if strings.Contains(flow, typ) {
				g.AddStage(typ, r.lookup(typ).spec, nothing)
			}
		}
		g.AddStage("names", toySpec("names", Kinds(KindOf[any]())), nothing)
		g.Stages[len(g.Stages)-1].Options = toldKinds{&told}
		g.Wire(strings.Split(flow, "; ")...)
		var found finding.List
		if err := g.Check(); !errors.As(err, &found) || len(found) != 2 || found[0].Code != finding.CodeName {
			t.Errorf("%s: %v", flow, err)
		}
		if len(told) != 1 || sorted(told[0]) != sorted(want) {
			t.Errorf("%s: the stage is given %q, want %q", flow, told, want)
		}
	}
}

// sorted makes alternatives comparable.
func sorted(alternatives string) string {
	all := strings.Split(alternatives, " or ")
	slices.Sort(all)
	return strings.Join(all, " or ")
}

func TestNothingIsSaidOfNamesWhereAStageIsUnknown(t *testing.T) {
	t.Parallel()
	var told []string
	g := NewGraph("toy")
	g.AddStage("urds", toySpec("urds", nil, port("", links)), nothing)
	g.AddStage("unknown", toySpec("unknown", Kinds(links), port("", links)), nil)
	g.AddStage("names", toySpec("names", Kinds(KindOf[any]())), nothing)
	g.Stages[2].Options = toldKinds{&told}
	g.Wire("urds > unknown > names")
	g.Check()
	if len(told) > 0 {
		t.Errorf("it is asked, being given %q", told)
	}
}

func TestListsAreTakenByWhatIsInThem(t *testing.T) {
	t.Parallel()
	texts, numbers := ListOf[string](), ListOf[int]()
	for _, c := range []struct {
		takes, given Kind
		want         bool
	}{
		{texts, texts, true}, {texts, numbers, false}, {texts, KindOf[List](), true}, {KindOf[List](), texts, true},
		{texts, KindOf[string](), false}, {KindOf[any](), texts, true}, {texts, KindOf[any](), true}, {ListOf[any](), texts, true},
	} {
		if got := c.takes.Accepts(c.given); got != c.want {
			t.Errorf("%v accepts %v: %t", c.takes, c.given, got)
		}
	}
}

func TestAPortThatWasAskedForMustLeadSomewhere(t *testing.T) {
	t.Parallel()
	for flow, want := range map[string]string{
		"urds > sort; sort.a > print":                 `port "b" of stage "sort" leads nowhere`,
		"urds > sort; sort.a > print; sort.b > print": "",
		"urds > sort; sort.a, sort.b, sort.c > print": "",
	} {
		g := NewGraph("toy")
		g.AddStage("urds", toySpec("urds", nil, port("", links)), nothing)
		asked := Port{Name: "a", Kind: SameAsInput, Asked: true}
		other := asked
		other.Name = "b"
		g.AddStage("sort", toySpec("sort", Kinds(KindOf[any]()), asked, other, port("c", SameAsInput)), nothing)
		g.AddStage("print", toySpec("print", Kinds(KindOf[any]())), nothing)
		g.Wire(strings.Split(flow, "; ")...)
		err := g.Check()
		if (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", flow, err, want)
		}
	}
}
