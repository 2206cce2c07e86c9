package archive

import (
	"cmp"
	"io"
	"slices"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/storage/objects"
	"github.com/webrace/webrace/storage/objects/warc"
)

// screenshot is a record that holds what a page looked like.
type screenshot struct {
	capture      // url is that of the page, and id that of the record beside which it was made; 0 where it does not say
	whole   bool // it shows more than is seen before the page is scrolled
}

// noteScreenshot keeps what is needed to find a screenshot, and reports whether a record is one.
func (im *importer) noteScreenshot(file int32, rec *warc.Record) bool {
	if rec.Type != warc.TypeResource {
		return false
	}
	page, whole, ok := objects.ScreenshotOf(rec.URL())
	if !ok {
		return false
	}
	at, err := rec.Date()
	if err != nil {
		im.skip(int(file), rec, rec.Offset, "its WARC-Date "+err.Error())
		return true
	}
	c := capture{place: rec.Place, date: at.UnixNano(), url: hashOf(page), id: hashOf(rec.ConcurrentTo()), file: file}
	im.screenshots = append(im.screenshots, screenshot{c, whole})
	return true
}

// pairScreenshots finds the capture of each screenshot: that which it names, or else the last of its page before it
// was made. Of several of a capture, one that shows the whole page is taken.
func (im *importer) pairScreenshots() {
	byName, byPage := im.captured()
	im.shown = map[int]screenshot{}
	for _, s := range im.screenshots {
		of := -1
		if s.id != 0 {
			of = byName[s.id]
		} else if before := byPage[s.url]; len(before) > 0 {
			n, _ := slices.BinarySearchFunc(before, s.date+1, func(i int, date int64) int { return cmp.Compare(im.captures[i].date, date) })
			if n > 0 {
				of = before[n-1]
			}
		}
		other, another := im.shown[of]
		if of < 0 || another {
			im.left["further screenshots, and those of no document"]++
		}
		if of >= 0 && (!another || s.whole && !other.whole) {
			im.shown[of] = s
		}
	}
	im.screenshots = nil
}

// captured finds the captures that screenshots can be of: by the name of their record, and by their page, in the order
// of their dates.
func (im *importer) captured() (byName map[uint64]int, byPage map[uint64][]int) {
	byName, byPage = map[uint64]int{}, map[uint64][]int{}
	for _, s := range im.screenshots {
		if s.id != 0 {
			byName[s.id] = -1
		} else {
			byPage[s.url] = nil
		}
	}
	for i, c := range im.captures {
		if _, wanted := byName[c.self]; wanted {
			byName[c.self] = i
		}
		if of, wanted := byPage[c.url]; wanted {
			byPage[c.url] = append(of, i)
		}
	}
	for _, of := range byPage {
		slices.SortStableFunc(of, func(a, b int) int { return cmp.Compare(im.captures[a].date, im.captures[b].date) })
	}
	return byName, byPage
}

// screenshotOf reads the screenshot of a capture; nil for none.
func (im *importer) screenshotOf(index int) (*webrace.Screenshot, error) {
	s, ok := im.shown[index]
	if !ok {
		return nil, nil
	}
	rec, err := im.side.record(s.capture)
	if err != nil {
		return nil, err
	}
	png, err := io.ReadAll(io.LimitReader(rec.Block, int64(im.options.MaxBody)+1))
	if err != nil {
		return nil, err
	}
	if len(png) > im.options.MaxBody || !objects.IsPNG(png) {
		im.left["screenshots that are too large or no PNG"]++
		return nil, nil
	}
	return &webrace.Screenshot{PNG: png, Whole: s.whole}, nil
}
