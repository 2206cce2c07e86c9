package portal

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"

	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// changeInterests does something with the interests that are ticked: all of it, or nothing.
func changeInterests(v *visit, mine control.Owned) error {
	f, err := v.form()
	if err != nil {
		return err
	}
	ids := slices.Clone(f.Values("id"))
	slices.Sort(ids)
	ids = slices.Compact(ids)
	if len(ids) == 0 {
		return v.see(back(f.Value("to")), "no_interest_ticked")
	}
	some, err := someOf(v.r.Context(), mine, ids)
	if err != nil {
		return err
	}
	done := ""
	switch f.Value("do") {
	case "pause", "resume":
		done = f.Value("do") + "d"
		err = setPaused(v.r.Context(), mine, ids, f.Value("do") == "pause")
	case "label", "unlabel":
		done = "labelled"
		err = setLabel(v.r.Context(), mine, ids, f, f.Value("do") == "label")
	case "now":
		done, err = checkNow(v.r.Context(), mine, some)
	case "delete":
		if f.Value("sure") == "" {
			return v.showDeletion(some, back(f.Value("to")))
		}
		done = "interests_deleted"
		err = deleteAll(v.r.Context(), mine, ids)
	default:
		return refuse(http.StatusBadRequest, "error.form")
	}
	if err != nil && !f.refused(err) {
		return err
	}
	if f.ok() {
		return v.see(back(f.Value("to")), done)
	}
	p, err := v.interestsPage(mine, queryOf(f.Value("to")), f)
	if err != nil {
		return err
	}
	return v.show(http.StatusUnprocessableEntity, "interests", p)
}

// queryOf reads the query of the list that a form came from.
func queryOf(to string) interestsQuery {
	u, err := url.Parse(back(to))
	if err != nil {
		return interestsQuery{Page: 1}
	}
	return readInterestsQuery(u.Query())
}

// someOf returns interests of an owner, or [control.ErrNotFound] if one is not there.
func someOf(ctx context.Context, mine control.Owned, ids []string) ([]control.URD, error) {
	some := make([]control.URD, len(ids))
	for i, id := range ids {
		var err error
		if some[i], err = mine.URD(ctx, id); err != nil {
			return nil, err
		}
	}
	return some, nil
}

// setPaused pauses interests, or resumes them.
func setPaused(ctx context.Context, mine control.Owned, ids []string, paused bool) error {
	_, err := mine.Change(ctx, ids, func(u *xmlschema.URD) error {
		u.Paused = paused
		return nil
	})
	return err
}

// setLabel gives interests a label, or takes it from them.
func setLabel(ctx context.Context, mine control.Owned, ids []string, f *form, has bool) error {
	label := f.line("label")
	if !xmlschema.FitsLabel(label) {
		f.wrong("label", "interests.wrong_label", xmlschema.LongestLabel)
		return nil
	}
	full := errors.New("labels are full")
	_, err := mine.Change(ctx, ids, func(u *xmlschema.URD) error {
		u.Labels = slices.DeleteFunc(slices.Clone(u.Labels), func(l string) bool { return l == label })
		if has {
			u.Labels = append(u.Labels, label)
		}
		if len(u.Labels) > xmlschema.MostLabels {
			return full
		}
		return nil
	})
	if errors.Is(err, full) {
		f.wrong("label", "interest.many_labels", xmlschema.MostLabels)
		return nil
	}
	return err
}

// checkNow asks for a check of interests, those that start a crawl, and returns what is said of it.
func checkNow(ctx context.Context, mine control.Owned, some []control.URD) (done string, err error) {
	asked := 0
	for _, u := range some {
		if u.Crawl.ID == "" {
			continue
		}
		if err := mine.CheckNow(ctx, u.ID); err != nil {
			return "", err
		}
		asked++
	}
	switch asked {
	case 0:
		return "check_none", nil
	case len(some):
		return "check_asked", nil
	}
	return "check_some", nil
}

// deleteAll removes interests. One that has gone meanwhile is gone.
func deleteAll(ctx context.Context, mine control.Owned, ids []string) error {
	for _, id := range ids {
		if err := mine.Delete(ctx, id); err != nil && !errors.Is(err, control.ErrNotFound) {
			return err
		}
	}
	return nil
}

// deletionPage asks whether interests are to be removed.
type deletionPage struct {
	Rows []interestRow
	To   string // where it leads afterwards
	Back string // where it leads if they stay
}

func (v *visit) showDeletion(some []control.URD, to string) error {
	p := deletionPage{To: to, Back: to}
	for _, u := range some {
		p.Rows = append(p.Rows, v.interestRow(u, nil))
	}
	return v.show(http.StatusOK, "interest_delete", p)
}

// showDeletion asks whether one interest is to be removed.
func showDeletion(v *visit, mine control.Owned) error {
	u, err := mine.URD(v.r.Context(), v.r.PathValue("id"))
	if err != nil {
		return err
	}
	return v.show(http.StatusOK, "interest_delete", deletionPage{[]interestRow{v.interestRow(u, nil)}, "/interests", interestPath(u.ID)})
}

// deleteInterest removes one interest.
func deleteInterest(v *visit, mine control.Owned) error {
	if err := mine.Delete(v.r.Context(), v.r.PathValue("id")); err != nil {
		return err
	}
	return v.see("/interests", "interests_deleted")
}

func pauseInterest(v *visit, mine control.Owned) error  { return v.pause(mine, true, "paused") }
func resumeInterest(v *visit, mine control.Owned) error { return v.pause(mine, false, "resumed") }

func (v *visit) pause(mine control.Owned, paused bool, done string) error {
	id := v.r.PathValue("id")
	if err := setPaused(v.r.Context(), mine, []string{id}, paused); err != nil {
		return err
	}
	return v.see(interestPath(id), done)
}

// checkInterest asks for a check of one interest.
func checkInterest(v *visit, mine control.Owned) error {
	some, err := someOf(v.r.Context(), mine, []string{v.r.PathValue("id")})
	if err != nil {
		return err
	}
	done, err := checkNow(v.r.Context(), mine, some)
	if err != nil {
		return err
	}
	return v.see(interestPath(some[0].ID), done)
}
