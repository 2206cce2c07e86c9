package render

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
)

// TestScreenshots looks at what pages look like, all of them and what is seen of them at first.
func TestScreenshots(t *testing.T) {
	if testing.Short() {
		t.Skip("browsers that draw pages: not in short mode")
	}
	t.Parallel()
	s := newSite(t)
	s.page("/tall", `<style>body { margin: 0; background: #fff } div { position: absolute }</style>
		<div style="left: 100px; top: 2000px; width: 200px; height: 100px; background: #f00"></div><div style="height: 2500px; width: 1px"></div>
		<button id=b>show</button><script>b.onclick = () => {
			document.body.insertAdjacentHTML("beforeend", "<div style='left: 400px; top: 300px; width: 50px; height: 50px; background: #0f0'></div>") }</script>`)
	s.page("/endless", `<div style="height: 1000000px">start</div>`)
	s.page("/noise", `<canvas id=c width=400 height=400></canvas><script>
		const x = c.getContext("2d"), d = x.createImageData(400, 400);
		for (let i = 0; i < d.data.length; i++) d.data[i] = i % 4 === 3 ? 255 : Math.random() * 256;
		x.putImageData(d, 0, 0);</script>`)
	red, green, white := color.NRGBA{255, 0, 0, 255}, color.NRGBA{0, 255, 0, 255}, color.NRGBA{255, 255, 255, 255}

	o := local(t)
	o.Idle = pipeline.Duration(100 * time.Millisecond)
	o.Screenshot = showPage
	o.Steps = []Step{{Pages: "path /tall", Click: "#b"}}
	got := run(t, o, s, "/tall", "/endless")
	looks(t, got.documents["/tall"].Screenshot, true, image.Pt(viewWidth, 2500), map[image.Point]color.NRGBA{
		{X: 102, Y: 2002}: red, {X: 298, Y: 2098}: red, {X: 98, Y: 2050}: white, {X: 302, Y: 2050}: white, {X: 425, Y: 325}: green,
	})
	looks(t, got.documents["/endless"].Screenshot, true, image.Pt(viewWidth, maxHeight), nil)
	got.wants(t, map[string]int64{"screenshots": 2, "rendered": 2, "screenshots_failed": 0})

	o.Screenshot, o.MaxScreenshot = showView, 100e3
	got = run(t, o, s, "/tall", "/noise")
	looks(t, got.documents["/tall"].Screenshot, false, image.Pt(viewWidth, viewHeight), map[image.Point]color.NRGBA{
		{X: 425, Y: 325}: green, {X: 600, Y: 1000}: white,
	})
	if d := got.documents["/noise"]; d.Screenshot != nil || !d.Rendered {
		t.Error("a screenshot that is too large is kept, or costs the page")
	}
	got.wants(t, map[string]int64{"screenshots": 1, "screenshots_too_large": 1, "rendered": 2})
}

// looks wants a screenshot to be of that size, and to have colours at their places.
func looks(t *testing.T, s *webrace.Screenshot, whole bool, size image.Point, at map[image.Point]color.NRGBA) {
	t.Helper()
	if s == nil {
		t.Error("there is no screenshot")
		return
	}
	picture, err := png.Decode(bytes.NewReader(s.PNG))
	if err != nil {
		t.Error(err)
		return
	}
	if got := picture.Bounds().Size(); got != size || s.Whole != whole {
		t.Errorf("the screenshot has %v, whole: %v; want %v", got, s.Whole, size)
		return
	}
	for point, want := range at {
		if got := color.NRGBAModel.Convert(picture.At(point.X, point.Y)); got != want {
			t.Errorf("at %v it is %v, want %v", point, got, want)
		}
	}
}
