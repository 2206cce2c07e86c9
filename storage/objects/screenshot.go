package objects

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/webrace/webrace"
)

// A version of a page that was rendered may have a screenshot: a record of type resource between that of its response
// and its meta-info. The metadata record is the last of a version with it as without: where a crash has torn the
// records of a version, that is missing, and the version is not taken for whole.

// ErrNoScreenshot means that a version was stored without a screenshot.
var ErrNoScreenshot = errors.New("no screenshot is stored with it")

// What stands before the URL of a page in that of its screenshot, as browsertrix writes it and players read it.
const (
	ofView  = "urn:view:"     // what is seen of the page before it is scrolled
	ofWhole = "urn:fullPage:" // more than that
)

// IsPNG reports whether a file begins as a PNG does.
func IsPNG(file []byte) bool { return bytes.HasPrefix(file, signaturePNG) }

var signaturePNG = []byte("\x89PNG\r\n\x1a\n")

// ScreenshotOf returns the URL of the page whose screenshot has this URI, and whether it shows more than is seen before
// the page is scrolled; ok is false for a URI that is of no screenshot.
func ScreenshotOf(uri string) (page string, whole, ok bool) {
	if page, ok = strings.CutPrefix(uri, ofView); ok {
		return page, false, true
	}
	page, ok = strings.CutPrefix(uri, ofWhole)
	return page, ok, ok
}

// screenshotURI is the URI of a screenshot of a page.
func screenshotURI(page string, whole bool) string {
	if whole {
		return ofWhole + page
	}
	return ofView + page
}

// checkScreenshot refuses what is no PNG.
func checkScreenshot(s *webrace.Screenshot) error {
	if s != nil && !IsPNG(s.PNG) {
		return errors.New("its screenshot is no PNG")
	}
	return nil
}

// screenshotRecord is the record of a version's screenshot.
func screenshotRecord(v *Version, s *webrace.Screenshot, response string) *record {
	return &record{
		kind: typeResource, id: newRecordID(), date: v.FetchedAt, content: "image/png", body: s.PNG,
		fields: [][2]string{
			{"WARC-Target-URI", screenshotURI(v.URL, s.Whole)},
			{"WARC-Concurrent-To", response},
			{"WARC-Block-Digest", blockDigest(s.PNG)},
			{versionField, strconv.Itoa(v.Number)},
			{viewField, v.Secret},
		},
	}
}

// Screenshot returns the screenshot of a version, or [ErrNoScreenshot].
func (s *Store) Screenshot(v Version) (*webrace.Screenshot, error) {
	if err := s.users.enter(); err != nil {
		return nil, err
	}
	defer s.users.Leave()
	var shot *webrace.Screenshot
	err := s.whereItIs(func() error {
		e, err := s.entry(v.View(), v.Number)
		if err == nil {
			shot, err = s.screenshot(&e)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("screenshot of version %d of %s: %w", v.Number, v.URL, err)
	}
	return shot, nil
}

func (s *Store) screenshot(e *entry) (*webrace.Screenshot, error) {
	if e.shotLength == 0 {
		return nil, ErrNoScreenshot
	}
	r, err := s.readRecord(e.shot(), e.shotLength)
	if err == nil {
		err = e.pictured(r)
	}
	if err == nil {
		err = picture(r)
	}
	if err != nil {
		return nil, err
	}
	_, whole, _ := ScreenshotOf(r.fields["warc-target-uri"])
	return &webrace.Screenshot{PNG: r.block, Whole: whole}, nil
}

// pictured verifies that the header of a record is that of the version's screenshot.
func (e *entry) pictured(r *parsedRecord) error {
	page, _, ok := ScreenshotOf(r.fields["warc-target-uri"])
	if !ok || r.fields["warc-type"] != typeResource || page != e.URL || !e.named(r) {
		return fmt.Errorf("%w: the screenshot of another version is stored there", ErrCorrupt)
	}
	return nil
}

// named reports whether a record claims to be of this version, whatever URL it is of.
func (v *Version) named(r *parsedRecord) bool {
	return r.fields[strings.ToLower(versionField)] == strconv.Itoa(v.Number) && r.fields[strings.ToLower(viewField)] == v.Secret
}

// picture verifies that the record of a screenshot holds what it declares.
func picture(r *parsedRecord) error {
	if !IsPNG(r.block) || blockDigest(r.block) != r.fields["warc-block-digest"] {
		return fmt.Errorf("%w: the screenshot has another digest", ErrCorrupt)
	}
	return nil
}
