package fingerprint

import "testing"

func TestOpaque(t *testing.T) {
	for text, want := range map[string]bool{
		`"<Figure size 640x480 with 1 Axes>"`:               true,
		`"\u003cFigure size 640x480 with 1 Axes\u003e"`:     true,
		`<IPython.core.display.Image object>`:               true,
		`"\u003cmatplotlib.lines.Line2D at 0x7f3a\u003e\n"`: true,
		`"<p>a b</p>"`: false,
		`"<output>"`:   false,
		`"a <b c>"`:    false,
		`"<"`:          false,
		``:             false,
	} {
		var w Words
		w.Add([]byte(text))
		w.Add(nil)
		if w.Opaque != want {
			t.Errorf("%s: Opaque is %v, want %v", text, w.Opaque, want)
		}
	}
}
