package explain

import (
	"context"
	"errors"
	"slices"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/match"
	"github.com/webrace/webrace/internal/selection"
	"github.com/webrace/webrace/stages/internal/modeluse"
	"github.com/webrace/webrace/stages/keywordfilter/annotate"
	"github.com/webrace/webrace/storage/objects"
	"github.com/webrace/webrace/xmlschema"
)

// url matches versions of one URL with those who are asked about it.
func (r *Rematch) url(ctx context.Context, versions []objects.Version, asked []*Rematched, yield func(*WouldTell, error) bool) (more bool, err error) {
	states := make([]seen, len(asked))
	known, err := r.Queues.ReachOf(r.Secret, versions[0].URL)
	if err != nil {
		return true, err
	}
	var last *objects.Version
	var former []string
	first := versions[0].Number
	if r.AllVersions {
		if versions, err = r.withFormer(versions); err != nil {
			return true, err
		}
	} else if is := known.placeholder(first); is.Rounds > 0 {
		whole, err := r.Cache.Get(versions[0].View(), is.Whole)
		if err != nil {
			return true, unlessGone(err)
		}
		versions, first = []objects.Version{whole}, is.Whole
	}
	placeholders := known.placeholders()
	for _, v := range versions {
		document, err := Read(ctx, r.Cache, v)
		if errors.Is(err, objects.ErrNotFound) {
			continue // removed meanwhile
		}
		if err != nil {
			return true, err
		}
		r.Versions++
		if placeholders.next(document) {
			continue
		}
		interests := make([]*annotate.Interest, len(asked))
		for i := range asked {
			interests[i] = asked[i].Interest
		}
		parts := annotate.Parts(ctx, interests, document.Parts)
		if ctx.Err() != nil {
			return true, ctx.Err()
		}
		moving, failure := &moving{cache: r.Cache, d: document, before: last, origins: known.origins(), instead: known.instead()}, error(nil)
		if last != nil && last.URL != v.URL {
			former = append(former, last.URL)
		}
		last = &v
		for i, interest := range asked {
			if parts[i].Err != nil {
				continue // it looks at nothing
			}
			since := states[i].version
			if v.Number == first && since > 0 && r.AllVersions {
				if err := known.unite(ctx, r.Cache, interest.Interest, &states[i].Seen); err != nil {
					return true, err
				}
			}
			if r.AllVersions {
				states[i].Moves = moving.to(ctx, interest.Interest, &failure)
			}
			before := states[i].Text()
			_, alert := states[i].Show(interest.Interest, parts[i].Part, document.AsBody())
			if failure != nil {
				return true, failure
			}
			states[i].version = v.Number
			if alert != nil {
				var err error
				if alert, err = states[i].count(ctx, interest.Interest, document, alert); err != nil {
					return true, err
				}
			}
			if alert == nil || v.FetchedAt.Before(r.Since) || v.Number < first {
				continue
			}
			aci := annotate.ACI(interest.URD, *alert, document.Document(), since)
			aci.Former = slices.Clone(former)
			if aci, err = r.judged(ctx, interest, aci, v, annotate.NewText(before, parts[i].Text, nil, alert.Entries)); err != nil {
				return true, err
			}
			if aci == nil {
				continue
			}
			told, err := r.tell(ctx, interest, aci)
			if err != nil {
				return true, err
			}
			if told != nil && !yield(told, nil) {
				return false, nil
			}
		}
	}
	return true, nil
}

// judged has a model asked of what is new in a version, if the URD has a question and a model is to be asked. It
// returns no annotation if the answer is no.
func (r *Rematch) judged(ctx context.Context, i *Rematched, aci *xmlschema.ACI, v objects.Version, news string) (*xmlschema.ACI, error) {
	if i.URD.Ask == "" || r.Judge == nil {
		return aci, nil
	}
	body, header, err := r.Cache.Body(v)
	if err != nil {
		return nil, unlessGone(err)
	}
	aci.Judgement = &xmlschema.Judgement{Question: i.URD.Ask, News: news, Forbidden: modeluse.Forbidden(v.URL, header, body, v.MediaType)}
	judged, err := r.Judge(ctx, aci)
	if err == nil && judged == nil {
		r.Refused++
	}
	return judged, err
}

// withFormer returns versions of one URL behind those of its document from before it moved there.
func (r *Rematch) withFormer(versions []objects.Version) ([]objects.Version, error) {
	all, err := r.Cache.History(versions[0].View())
	if err != nil {
		return nil, unlessGone(err)
	}
	before := slices.DeleteFunc(all, func(v objects.Version) bool { return v.Number >= versions[0].Number })
	return append(before, versions...), nil
}

// seen is what a URD has been shown of a URL.
type seen struct {
	annotate.Seen
	version int           // the last; 0 for none
	told    *webrace.Told // the number; nil for none
}

// count returns the alert if the number of a version, compared with the one that was told last, meets the condition of
// the URD, or that has none. The error is that of the context.
func (s *seen) count(ctx context.Context, i *annotate.Interest, d *Stored, alert *match.Alert) (*match.Alert, error) {
	when := i.Number()
	if when == nil {
		return alert, nil
	}
	number, err := when.Number(ctx, d.Parts, d.Language, selection.NewBudget())
	if err != nil {
		return nil, ctx.Err()
	}
	tell, next, err := when.Judge(number, s.told, selection.NewBudget())
	if err != nil {
		return nil, nil // as in a pipeline, which counts it
	}
	if number.Found || s.told != nil {
		s.told = &next
	}
	if !tell {
		return nil, nil
	}
	return alert, nil
}
