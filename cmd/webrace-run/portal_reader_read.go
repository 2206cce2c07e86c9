package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/stages/keywordfilter/annotate"
	"github.com/webrace/webrace/stages/keywordfilter/explain"
	"github.com/webrace/webrace/stages/portal"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/objects"
	"github.com/webrace/webrace/xmlschema"
)

// mostVersions is how many versions of a document are listed.
const mostVersions = 50

// Read implements [portal.Reader].
func (r *portalReader) Read(ctx context.Context, a control.ACI, u *xmlschema.URD) (*portal.Reading, error) {
	if u != nil && u.Owner != a.Owner {
		return nil, fmt.Errorf("annotation %s is of another owner than URD %s", a.ID, u.ID)
	}
	version, err := r.version(a)
	if err != nil {
		return nil, err
	}
	stored, err := explain.Read(ctx, r.cache, version)
	if err != nil {
		return nil, gone(a, err)
	}
	looked, err := lookingAs(ctx, a, u, stored)
	if err != nil {
		return nil, err
	}
	reading := &portal.Reading{
		URL: unmarked(version.URL), Title: stored.Title, MediaType: stored.MediaType, Version: versionOf(version),
		Text: excerptOf(&looked.MarkedText, extentOfReading), Selects: looked.selects, Remarks: looked.remarks, Unread: stored.Unread.Reason, Since: a.Docbase.Since,
	}
	if reading.Change, err = r.change(ctx, a, u, stored); err != nil {
		return nil, err
	}
	return reading, r.list(reading, version, u)
}

// version returns the one that an annotation speaks of. What has its number and is another was stored since, in a data
// directory that has lost it.
func (r *portalReader) version(a control.ACI) (v objects.Version, err error) {
	err = objects.ErrNotFound
	if a.Docbase.Version > 0 { // 0 would be the latest
		v, err = r.cache.Get(objects.View(a.Docbase.Secret, a.URI), a.Docbase.Version)
	}
	if err == nil && v.Digest.String() != a.Docbase.Digest {
		err = objects.ErrNotFound
	}
	return v, gone(a, err)
}

// gone returns what it means that a version is not there.
func gone(a control.ACI, err error) error {
	if errors.Is(err, objects.ErrNotFound) {
		return &portal.GoneError{URL: unmarked(a.URI), Version: a.Docbase.Version}
	}
	return err
}

// lookedAt is what of a document a URD looks at.
type lookedAt struct {
	explain.MarkedText
	selects bool
	remarks []string
}

// lookingAs looks at a version as a URD does, or as an annotation says of which the URD is gone. Where the rules of the
// URD select nothing, it is the whole, in which nothing is found.
func lookingAs(ctx context.Context, a control.ACI, u *xmlschema.URD, stored *explain.Stored) (*lookedAt, error) {
	whole := &lookedAt{MarkedText: explain.MarkedText{Text: stored.Text}}
	if u == nil {
		u = asExplained(a)
	}
	interest, err := annotate.NewInterest(u)
	if err != nil {
		whole.remarks = []string{err.Error()}
		return whole, nil
	}
	score := explain.Score{Interest: interest}
	text, err := score.Look(ctx, stored.Parts)
	if err != nil {
		return nil, err
	}
	whole.remarks = score.Remarks
	if interest.Selects() && len(text.Blocks) == 0 {
		return whole, nil
	}
	whole.Text, whole.selects = text, interest.Selects()
	whole.Mark(interest)
	return whole, nil
}

// asExplained makes a URD of the keywords by which an annotation explains itself.
func asExplained(a control.ACI) *xmlschema.URD {
	u := xmlschema.NewURD(a.Owner, "*")
	if a.Explain != nil {
		var words []xmlschema.Keyword
		for _, k := range a.Explain.Keywords {
			words = append(words, xmlschema.Keyword{Key: k.Key, Weight: max(k.Weight, 1)})
		}
		u.Keywords = xmlschema.NewKeywords(words...)
	}
	return u
}

// list adds the versions of the document. Of what is not for all, that is those which the URD is shown now: whose grant
// of credentials was taken back sees what they were told of, and no more.
func (r *portalReader) list(to *portal.Reading, of objects.Version, u *xmlschema.URD) error {
	all := []objects.Version{of}
	if explain.IsShown(u, of) {
		var err error
		if all, err = r.cache.History(of.View()); err != nil && !errors.Is(err, objects.ErrNotFound) {
			return err
		}
	}
	slices.Reverse(all)
	to.Left = max(0, len(all)-mostVersions)
	for _, v := range all[:len(all)-to.Left] {
		to.Versions = append(to.Versions, versionOf(v))
	}
	return nil
}

func versionOf(v objects.Version) portal.Version {
	return portal.Version{Number: v.Number, At: v.FetchedAt, Size: v.Size}
}

// Raw implements [portal.Reader].
func (r *portalReader) Raw(ctx context.Context, a control.ACI) (contentType string, body io.ReadCloser, err error) {
	version, err := r.version(a)
	if err != nil {
		return "", nil, err
	}
	content, header, err := r.cache.Body(version)
	if err != nil {
		return "", nil, gone(a, err)
	}
	return extract.ContentType(header, version.MediaType), io.NopCloser(bytes.NewReader(content)), ctx.Err()
}

// change returns how what the URD looks at differs from the version that the owner knew; nil where they knew none, or
// that is gone.
func (r *portalReader) change(ctx context.Context, a control.ACI, u *xmlschema.URD, now *explain.Stored) (*portal.Change, error) {
	if a.Docbase.Since == 0 {
		return nil, nil
	}
	version, err := r.cache.Get(now.Version.View(), a.Docbase.Since)
	var before *explain.Stored
	if err == nil {
		before, err = explain.Read(ctx, r.cache, version)
	}
	if err != nil {
		if errors.Is(err, objects.ErrNotFound) {
			err = nil
		}
		return nil, err
	}
	var texts [2]*webrace.Text
	for i, stored := range []*explain.Stored{before, now} {
		looked, err := lookingAs(ctx, a, u, stored)
		if err != nil {
			return nil, err
		}
		texts[i] = looked.Text
	}
	return changeOf(before, now, texts), nil
}
