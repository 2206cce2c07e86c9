package portal

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"slices"
	"strconv"

	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// interestPage is what the form of an interest shows.
type interestPage struct {
	interestRow
	New     bool
	Form    *form
	Version string // of what the form was made of
	Taken   string // where the interest is that asks the same; empty: there is none
	Meant   []string
	Kept    []string // what the interest has that the form does not show
	Changed []changedField
	Preview *previewPage // nil: it was not asked for

	Matches, Tells, Changes, Urgencies, Scopes, Remembers, Secrets []choice

	MaxDepth int
	Below    bool // all pages below can be asked for
	Fine     bool // the part of the form is open that most leave as it is
}

// changedField is a field that another has changed since the form was shown.
type changedField struct{ Label, Stored, Typed string }

// versionOf tells versions of an interest apart, but for whether it is paused, which the form leaves as it is.
func versionOf(u *xmlschema.URD) string {
	active := *u
	active.Paused = false
	sum := sha256.Sum256(active.Canonical())
	return hex.EncodeToString(sum[:16])
}

func showNewInterest(v *visit, mine control.Owned) error {
	u := xmlschema.NewURD(mine.Owner(), "")
	return v.showNew(mine, http.StatusOK, newForm(interestValues(u)), "")
}

func (v *visit) showNew(mine control.Owned, status int, f *form, taken string) error {
	p, err := v.interestPage(mine, f, xmlschema.NewURD(mine.Owner(), ""))
	if err != nil {
		return err
	}
	p.New, p.Taken = true, taken
	return v.showTitled(status, "interest", text("interest.new"), p)
}

// addInterest stores a new interest.
func addInterest(v *visit, mine control.Owned) error {
	f, err := v.form()
	if err != nil {
		return err
	}
	u := readInterest(f, xmlschema.NewURD(mine.Owner(), ""), v.tools.options)
	taken := ""
	if f.ok() {
		id, err := mine.Add(v.r.Context(), u)
		var there *control.TakenError
		switch {
		case err == nil:
			return v.see(interestPath(id), "interest_added")
		case errors.As(err, &there):
			taken = interestPath(there.Name)
			f.wrong(wholeForm, "interest.taken")
		case !f.refused(err):
			return err
		}
	}
	return v.showNew(mine, http.StatusUnprocessableEntity, f, taken)
}

// showInterest shows an interest, to be changed.
func showInterest(v *visit, mine control.Owned) error {
	u, err := mine.URD(v.r.Context(), v.r.PathValue("id"))
	if err != nil {
		return err
	}
	return v.showForm(mine, http.StatusOK, newForm(interestValues(u.URD)), u, nil)
}

func (v *visit) showForm(mine control.Owned, status int, f *form, u control.URD, changed []changedField) error {
	p, err := v.interestPage(mine, f, u.URD)
	if err != nil {
		return err
	}
	counts, err := mine.InboxCounts(v.r.Context(), u.ID)
	if err != nil {
		return err
	}
	p.interestRow, p.Version, p.Changed = v.interestRow(u, counts[u.ID]), versionOf(u.URD), changed
	return v.showTitled(status, "interest", p.Title, p)
}

// errOtherVersion means that an interest was changed since the form was shown.
var errOtherVersion = errors.New("the interest was changed meanwhile")

// changeInterest stores what became of an interest, if it still is what the form was made of. Otherwise both are shown,
// and the next time it is stored.
func changeInterest(v *visit, mine control.Owned) error {
	ctx, id := v.r.Context(), v.r.PathValue("id")
	f, err := v.form()
	if err != nil {
		return err
	}
	stored, err := mine.URD(ctx, id)
	if err != nil {
		return err
	}
	is := readInterest(f, stored.URD, v.tools.options)
	version := versionOf(stored.URD)
	if f.Value("version") != version {
		return v.showConflict(mine, f, stored)
	}
	if f.ok() {
		_, err = mine.Change(ctx, []string{id}, func(u *xmlschema.URD) error {
			if versionOf(u) != version {
				return errOtherVersion
			}
			paused := u.Paused
			*u = *is
			u.Paused = paused
			return nil
		})
		switch {
		case err == nil:
			return v.see(interestPath(id), "interest_saved")
		case errors.Is(err, errOtherVersion):
			if stored, err = mine.URD(ctx, id); err != nil {
				return err
			}
			return v.showConflict(mine, f, stored)
		case !f.refused(err):
			return err
		}
	}
	return v.showForm(mine, http.StatusUnprocessableEntity, f, stored, nil)
}

// showConflict shows what was typed, and where what is stored by now is something else.
func (v *visit) showConflict(mine control.Owned, f *form, stored control.URD) error {
	is := interestValues(stored.URD)
	var changed []changedField
	for _, name := range interestFields {
		typed, there := shownValue(name, f.Value(name)), shownValue(name, is.Get(name))
		if !slices.Equal(linesOf(typed), linesOf(there)) {
			changed = append(changed, changedField{text("interest." + name), there, typed})
		}
	}
	return v.showForm(mine, http.StatusConflict, f, stored, changed)
}

// shownValue is the value of a field as people read it.
func shownValue(name, value string) string {
	switch {
	case value == "":
		return text("interest.nothing")
	case texts()["interest."+name+"_"+value] != "":
		return text("interest." + name + "_" + value)
	}
	return value
}

// interestPage makes the page of a form of an interest.
func (v *visit) interestPage(mine control.Owned, f *form, u *xmlschema.URD) (interestPage, error) {
	_, below := u.Prefix()
	p := interestPage{
		Form: f, Preview: v.previewed, Kept: keptOf(u), Meant: meantOf(u), MaxDepth: v.tools.options.MaxDepth, Below: v.tools.options.Prefixes || below,
		Matches: choices(f, "match", matchModes), Tells: choices(f, "tell", processTypes), Changes: choices(f, "change", changeScopes),
		Urgencies: choices(f, "urgency", urgencies), Scopes: choices(f, "scope", crawlScopes),
		Remembers: []choice{{"", text("interest.remember_"), f.Value("remember") == ""}},
		Secrets:   []choice{{"", text("interest.secret_"), f.Value("secret") == ""}},
	}
	for n := range xmlschema.MostRemembered {
		value := strconv.Itoa(n + 1)
		p.Remembers = append(p.Remembers, choice{value, value, f.Value("remember") == value})
	}
	names, err := secretNames(v, mine, f.Value("secret"))
	for _, name := range names {
		p.Secrets = append(p.Secrets, choice{name, name, f.Value("secret") == name})
	}
	usual := interestValues(xmlschema.NewURD("", ""))
	for _, name := range interestFields[slices.Index(interestFields, "select"):] {
		p.Fine = p.Fine || f.Value(name) != usual.Get(name) || f.Wrong[name] != ""
	}
	return p, err
}

// choices are the values of a field to choose from, whose labels are the texts interest.FIELD_VALUE.
func choices(f *form, name string, values []string) (all []choice) {
	for _, value := range values {
		all = append(all, choice{value, text("interest." + name + "_" + value), f.Value(name) == value})
	}
	return all
}

// secretNames returns the names of the secrets that an owner may use, and the one that is chosen.
func secretNames(v *visit, mine control.Owned, chosen string) (names []string, err error) {
	for s, err := range mine.Secrets(v.r.Context()) {
		if err != nil {
			return nil, err
		}
		names = append(names, s.Name)
	}
	if chosen != "" && !slices.Contains(names, chosen) {
		names = append(names, chosen)
	}
	return names, nil
}

// keptOf returns what an interest has that its form does not show, and leaves as it is.
func keptOf(u *xmlschema.URD) (kept []string) {
	add := func(is bool, key string, args ...any) {
		if is {
			kept = append(kept, text("kept."+key, args...))
		}
	}
	add(u.Protocol == xmlschema.ProtocolFeed, "feed")
	add(u.Protocol != xmlschema.ProtocolFeed && u.Protocol != xmlschema.ProtocolHTTP && u.Protocol != "", "protocol", u.Protocol)
	add(u.Method == xmlschema.MethodPush, "push")
	add(u.Port > 0, "port", u.Port)
	add(u.Login != "", "login", u.Login)
	add(u.Group != "", "group", u.Group)
	add(len(u.Keywords.Groups) > 0, "groups")
	if u.Request != nil {
		add(true, "request", u.Request.Method)
	}
	if r := u.When(); r != nil {
		add(true, "when", r.When, ruleLine(*r))
	}
	add(u.Ask != "", "ask", u.Ask)
	return kept
}

// meantOf returns what of an interest is probably not meant.
func meantOf(u *xmlschema.URD) (said []string) {
	switch {
	case !hasKeywords(u.Keywords):
	case u.ProcessType == xmlschema.ProcessNonFilter:
		said = append(said, text("interest.idle_keywords"))
	case u.Keywords.Ceiling() <= u.Keywords.Threshold:
		said = append(said, text("interest.never", u.Keywords.Ceiling(), u.Keywords.Threshold))
	}
	return said
}
