package xmlschema

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

const checked = `<urds xmlns="urn:webrace:1">
<urd id="a"><uri port="80">http://a.example/</uri>
  <keywords><keyword key="x"/><group><keyword key="y"/></group></keywords>
</urd>
<urd id="b"><uri>http://b.example/</uri></urd>
</urds>`

func TestWhatACheckFindsHasThePlaceOfWhatItIsAbout(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fault Fault
		want  string
	}{
		{Fault{}, "2:1 /urds/urd[1]"},
		{Fault{About: "uri"}, "2:13 /urds/urd[1]/uri"},
		{Fault{About: "uri/@port"}, "2:18 /urds/urd[1]/uri/@port"},
		{Fault{About: "uri/@login"}, "2:13 /urds/urd[1]/uri"}, // left to its default: the element
		{Fault{About: "type/@method"}, "2:1 /urds/urd[1]"},    // likewise
		{Fault{About: "keywords", Key: "y"}, "3:38 /urds/urd[1]/keywords/group/keyword"},
		{Fault{About: "keywords", Key: "z"}, "3:3 /urds/urd[1]/keywords"},
	} {
		for _, warning := range []bool{false, true} {
			c.fault.Message, c.fault.Warning = "m", warning
			d := NewDecoder(strings.NewReader(checked), Check(func(u *URD) []Fault {
				if u.ID != "a" {
					return nil
				}
				return []Fault{c.fault}
			}))
			var ids []string
			for u := range d.URDs() {
				ids = append(ids, u.ID)
			}
			found := d.Warnings()
			want := []string{"a", "b"}
			if !warning {
				errors.As(d.Err(), &found)
				want = []string{"b"}
			}
			if len(found) != 1 || strings.TrimSuffix(found[0].String(), "m") == "" || place(found[0]) != c.want || found[0].Warning != warning {
				t.Errorf("%+v is found as %v, want it at %s", c.fault, found, c.want)
			}
			if !slices.Equal(ids, want) {
				t.Errorf("%+v leaves %q, want %q", c.fault, ids, want)
			}
		}
	}
}

func place(p Problem) string {
	at, _, _ := strings.Cut(p.String(), ": ")
	return at + " " + p.Path
}

func TestACheckMayFillInWhatARequestLeavesOpen(t *testing.T) {
	t.Parallel()
	d := NewDecoder(strings.NewReader(checked), Check(func(u *URD) []Fault { u.Owner = "ann"; return nil }))
	for u := range d.URDs() {
		if u.Owner != "ann" {
			t.Errorf("%s has the owner %q", u.ID, u.Owner)
		}
	}
	if err := d.Err(); err != nil {
		t.Error(err)
	}
}

func TestTheRootSaysWhatADocumentIsBeforeItIsRead(t *testing.T) {
	t.Parallel()
	for document, want := range map[string]string{
		"<source><uri>http://a.example/</uri></source>": "urd", checked: "urds", "<cache/>": "acis",
		"<Accounts/>": "", "<personal/>": "", "<nothing/>": "", "": "", "text": "",
	} {
		d := NewDecoder(strings.NewReader(document))
		if got := d.Root(); got != want {
			t.Errorf("the root of %.20q is %q, want %q", document, got, want)
		}
		n := 0
		for range d.URDs() {
			n++
		}
		if readable := strings.HasPrefix(want, "urd"); readable != (d.Err() == nil) || readable != (n > 0) {
			t.Errorf("%.20q: %d requests, %v", document, n, d.Err())
		}
	}
}
