package splice

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// The loops of this file are those of coding agents that build and test apps for phones.

func appsLoops() []kind {
	return []kind{
		{name: "ui_element_never_hittable", build: uiElementNeverHittable},
		{name: "build_number_already_used", build: buildNumberAlreadyUsed},
		{name: "logcat_filtered_in_vain", build: logcatFilteredInVain},
		{name: "overflow_traded_for_unbounded_height", build: overflowTradedForUnboundedHeight},
	}
}

// patient returns a harness that does not tell how long a command took: builds and tests of apps take minutes.
func (p *generator) patient() harness {
	return harness{p, p.pickInt(claudeCode, gemini, openHands, sweAgent)}
}

// uiTest is a test of a user interface that fails at one element.
type uiTest struct {
	file, command string
	lines         []string // of the test, with which the agent tries to reach the element
	output        func() string
}

// xcuiTest returns a test whose button is behind something else.
func (p *generator) xcuiTest(app, suite, label string) uiTest {
	name, now, frame := "test"+capitalized(p.word())+capitalized(p.word()), p.passingTime(), fmt.Sprintf("{{%d.0, %d.0}, {%d.0, 50.0}}", p.between(8, 40), p.between(600, 860), p.between(200, 361))
	steps := []string{"Open com.example." + app, "Launch com.example." + app, "Setting up automation session", "Wait for com.example." + app + " to idle", "Tap \"" + capitalized(p.word()) + "\" Button", "Find the \"" + label + "\" Button", "Check for interrupting elements affecting \"" + label + "\" Button", "Synthesize event", "Scroll element to visible", "Failed: Failed to scroll to visible (by AX action)"}
	return uiTest{
		app + "UITests/" + suite + ".swift",
		"xcodebuild test -workspace " + app + ".xcworkspace -scheme " + app + " -destination 'platform=iOS Simulator,name=" + p.pick("iPhone 15", "iPhone 16 Pro", "iPad Air 11-inch (M2)") + "' -only-testing:" + app + "UITests/" + suite + "/" + name,
		[]string{`XCTAssertTrue(app.buttons["%s"].waitForExistence(timeout: 10))`, `app.buttons["%s"].firstMatch.tap()`, `app.swipeUp(); app.buttons["%s"].tap()`, `app.buttons["%s"].coordinate(withNormalizedOffset: CGVector(dx: 0.5, dy: 0.5)).tap()`, `sleep(3); app.buttons["%s"].tap()`, `app.descendants(matching: .button)["%s"].tap()`, `expectation(for: NSPredicate(format: "hittable == true"), evaluatedWith: app.buttons["%s"])`, `app.scrollViews.firstMatch.swipeUp(velocity: .slow); app.buttons["%s"].tap()`},
		func() string {
			t, text := 0.0, fmt.Sprintf("Test Suite '%s' started at %s.%03d\nTest Case '-[%sUITests.%s %s]' started.\n", suite, strings.Replace(now()[:19], "T", " ", 1), p.IntN(1000), app, suite, name)
			for _, step := range steps[p.IntN(4):] {
				text += fmt.Sprintf("    t = %8.2fs     %s\n", t, step)
				t += p.Float64() * 3
			}
			return text + fmt.Sprintf("/srv/build/%[1]s/%[1]sUITests/%[2]s.swift:%[3]d: error: -[%[1]sUITests.%[2]s %[4]s] : Failed to synthesize event: Failed to scroll to visible (by AX action) Button, %[5]s, label: '%[6]s', error: Error kAXErrorCannotComplete performing AXAction kAXScrollToVisibleAction\nTest Case '-[%[1]sUITests.%[2]s %[4]s]' failed (%.3[7]f seconds).\nFailing tests:\n\t%[2]s.%[4]s()\n** TEST FAILED **", app, suite, p.between(30, 90), name, frame, label, t+p.Float64())
		},
	}
}

// espressoTest returns a test whose button is covered in part.
func (p *generator) espressoTest(app, suite, label string) uiTest {
	id, view, test := 2131360000+p.IntN(4000), "btn_"+p.word(), p.word()+capitalized(p.word())
	var tree []string
	for k := range p.between(6, 40) {
		tree = append(tree, fmt.Sprintf("|\n%s>%s{id=%d, res-name=%s_%s, visibility=VISIBLE, width=%d, height=%d, child-count=%d}", strings.Repeat("-", 1+k%7), p.pick("LinearLayout", "ConstraintLayout", "MaterialTextView", "RecyclerView", "AppCompatImageView", "FrameLayout"), id-k-1, p.word(), p.word(), p.between(40, 1080), p.between(40, 2200), p.IntN(5)))
	}
	return uiTest{
		"app/src/androidTest/java/com/example/" + app + "/" + suite + ".kt",
		"./gradlew :app:connectedDebugAndroidTest -Pandroid.testInstrumentationRunnerArguments.class=com.example." + app + "." + suite + "#" + test,
		[]string{"onView(withId(R.id." + view + ")).perform(scrollTo(), click()) // %s", `onView(withText("%s")).perform(click())`, `onView(allOf(withText("%s"), isDisplayed())).perform(click())`, `Thread.sleep(3000); onView(withText("%s")).perform(click())`, `onView(isRoot()).perform(closeSoftKeyboard()); onView(withText("%s")).perform(click())`, `onView(withText("%s")).perform(swipeUp(), click())`, `device.findObject(UiSelector().text("%s")).waitForExists(5000)`},
		func() string {
			seconds := p.between(18, 140)
			return fmt.Sprintf("> Task :app:connectedDebugAndroidTest\nStarting 1 tests on Pixel_6_API_34(AVD) - 14\n\ncom.example.%[1]s.%[2]s > %[3]s[Pixel_6_API_34(AVD) - 14] FAILED\n\tandroidx.test.espresso.PerformException: Error performing 'single click' on view '(view.getId() is <%[4]d/com.example.%[1]s:id/%[5]s>)'.\n\tCaused by: java.lang.RuntimeException: Action will not be performed because the target view does not match one or more of the following constraints:\n\t(view has effective visibility <VISIBLE> and view.getGlobalVisibleRect() covers at least <90> percent of the view's area)\n\tTarget view: \"MaterialButton{id=%[4]d, res-name=%[5]s, text=%[6]s, x=%[7]d.0}\"\n\nView Hierarchy:\n%[8]s\n\n> Task :app:connectedDebugAndroidTest FAILED\n\nBUILD FAILED in %[9]s\n%[10]d actionable tasks: %[11]d executed, 61 up-to-date", app, suite, test, id, view, label, 16, strings.Join(tree, "\n"), fmt.Sprintf("%dm %ds", seconds/60, seconds%60), 72, p.between(3, 11))
		},
	}
}

// maestroTest returns a flow that does not find a text.
func (p *generator) maestroTest(app, label string) uiTest {
	now, passed := p.passingTime(), ""
	for _, word := range p.distinctWords(p.between(1, 6)) {
		passed += " ║    ✅  " + p.pick("Tap on", "Assert that", "Input text") + " \"" + capitalized(word) + "\"\n"
	}
	return uiTest{
		".maestro/" + p.word() + ".yaml",
		p.pick("maestro test .maestro", "maestro --device emulator-5554 test .maestro", "maestro test .maestro --format junit"),
		[]string{`- tapOn: "%s"`, "- waitForAnimationToEnd\n- tapOn: \"%s\"", "- scrollUntilVisible:\n    element: \"%s\"\n- tapOn: \"%[1]s\"", "- extendedWaitUntil:\n    visible: \"%s\"\n    timeout: 10000", "- tapOn:\n    text: \".*%s.*\"", "- hideKeyboard\n- tapOn: \"%s\"", "- tapOn:\n    text: \"%s\"\n    retryTapIfNoChange: true"},
		func() string {
			return " ║\n ║  > Flow " + app + "\n ║    ✅  Launch app \"com.example." + app + "\"\n" + passed + " ║    ❌  Tap on \"" + label + "\"\n ║\n\nElement not found: Text matching regex: " + label + "\n\n==== Debug output (logs & screenshots) ====\n\n/root/.maestro/tests/" + strings.ReplaceAll(strings.ReplaceAll(now()[:19], ":", ""), "T", "_")
		},
	}
}

// uiElementNeverHittable waits, scrolls and asks in other ways for one element, and the test fails at this element.
func uiElementNeverHittable(p *generator) (entries []entry, _ int) {
	h := p.patient()
	app, suite, label := p.word(), capitalized(p.word())+"FlowTest", p.pick("Continue", "Pay now", "Confirm", "Save", "Next", "Accept")
	t := []uiTest{p.xcuiTest(app, suite, label), p.espressoTest(app, suite, label), p.maestroTest(app, label)}[p.IntN(3)]
	w := wording{
		[]string{"The tap on \"" + label + "\" fails. Let me wait for it first.", "The button is probably not on the screen yet."},
		[]string{"The tap still fails.", "It is the same element again.", "\"" + label + "\" cannot be tapped yet.", "Same failure on the device.", "Hmm, that made no difference.", ""},
		[]string{"Let me reach it in another way.", "I'll wait a little longer.", "Perhaps it needs a scroll.", "Let me use another matcher.", "The keyboard may be in front of it.", "Let me make the tap more robust."},
	}
	before := fmt.Sprintf(t.lines[0], label)
	for k := range p.repeats() {
		after := fmt.Sprintf(t.lines[p.IntN(len(t.lines))], label)
		for after == before {
			after = fmt.Sprintf(t.lines[p.IntN(len(t.lines))], label)
		}
		entries = append(entries, h.replace(t.file, before, after).after(w.of(p, k)), h.shell(t.command, t.output(), 1).after(p.runAgain()))
		before = after
	}
	return entries, 2
}

// buildNumberAlreadyUsed raises the version of an app, and a script gives each build the number that the store has already.
func buildNumberAlreadyUsed(p *generator) (entries []entry, _ int) {
	h, app, number := p.patient(), p.word(), p.between(40, 900)
	major, minor, patch := p.between(1, 6), p.IntN(20), p.IntN(9)
	s := []struct {
		files, lines, builds   []string
		built, upload, refused string
	}{
		{
			[]string{"ios/" + app + "/Info.plist", "fastlane/Fastfile", "ios/" + app + ".xcodeproj/project.pbxproj"},
			[]string{"<string>%d.%d.%d</string>", `version_number: "%d.%d.%d"`, "MARKETING_VERSION = %d.%d.%d;"},
			[]string{"bundle exec fastlane ios build", "xcodebuild archive -scheme " + app + " -archivePath build/" + app + ".xcarchive | xcbeautify", "bundle exec fastlane gym --clean"},
			"[%[1]s]: ▸ Archive Succeeded\n[%[1]s]: Successfully exported and signed the ipa file: build/" + app + ".ipa (%[2]s)", "bundle exec fastlane ios upload",
			fmt.Sprintf("[%%s]: Ready to upload new build to TestFlight (App: %d)...\n[%%[1]s]: [Transporter Error Output]: ERROR ITMS-90189: \"Redundant Binary Upload. You've already uploaded a build with build number '%d'. Make sure you increment the build string before you upload your app to App Store Connect. (ID: %%[2]s)\"\n[%%[1]s]: fastlane finished with errors", p.between(1e8, 9e8), number),
		},
		{
			[]string{"app/build.gradle.kts", "gradle.properties", "app/build.gradle.kts"},
			[]string{`versionName = "%d.%d.%d"`, "VERSION_NAME=%d.%d.%d", `versionNameSuffix = "-%d.%d.%d"`},
			[]string{"./gradlew :app:bundleRelease", "./gradlew clean :app:bundleRelease", "./gradlew :app:bundleRelease --no-build-cache"},
			"[%[1]s] > Task :app:signReleaseBundle\n\nBUILD SUCCESSFUL in %[3]ds\n61 actionable tasks: 44 executed, 17 up-to-date", "bundle exec fastlane supply --aab app/build/outputs/bundle/release/app-release.aab --track internal",
			fmt.Sprintf("[%%s]: Preparing aab at path 'app/build/outputs/bundle/release/app-release.aab' for upload...\n[%%[1]s]: Google Api Error: forbidden: Version code %d has already been used. (edit %%[2]s)\n[%%[1]s]: fastlane finished with errors", number),
		},
		{
			[]string{"pubspec.yaml", "pubspec.yaml", "android/local.properties"},
			[]string{"version: %d.%d.%d", "version: %d.%d.%d # release", "flutter.versionName=%d.%d.%d"},
			[]string{"./tool/build.sh", "flutter clean && ./tool/build.sh", "./tool/build.sh --release"},
			"[%[1]s] Running Gradle task 'bundleRelease'... %[3]d.4s\n✓ Built build/app/outputs/bundle/release/app-release.aab (24.1MB)", "dart run tool/publish.dart --track beta",
			fmt.Sprintf("[%%s] Uploading build/app/outputs/bundle/release/app-release.aab\nUnhandled exception:\nDetailedApiRequestError(status: 403, message: Version code %d has already been used.)\n#0      _validateResponse (package:_discoveryapis_commons/src/api_requester.dart:296:9)\nedit: %%[2]s", number),
		},
	}[p.IntN(3)]
	now := p.passingTime()
	w := wording{
		[]string{"Let me set the version for the release.", "First I raise the version."},
		[]string{"The store says that the build exists.", "The upload was refused for the same number.", "It has already been used, so the version must go up.", "Refused again.", ""},
		[]string{"Let me raise the version.", "I'll bump the version once more.", "Let me set a higher version.", "The next version should be free.", "Let me change it in the other file."},
	}
	held := map[string]string{} // what a line of a file holds
	for _, line := range s.lines {
		held[line] = fmt.Sprintf(line, major, minor, patch)
	}
	for k := range p.repeats() {
		n := p.IntN(len(s.files))
		before := held[s.lines[n]]
		if patch += p.between(1, 2); p.IntN(4) == 0 {
			minor, patch = minor+1, 0
		}
		held[s.lines[n]] = fmt.Sprintf(s.lines[n], major, minor, patch)
		entries = append(entries, h.replace(s.files[n], before, held[s.lines[n]]).after(w.of(p, k)),
			h.shell(p.pick(s.builds...), fmt.Sprintf(s.built, now()[11:19], p.uuid()[:8], p.between(21, 90)), 0).after(thought{"", p.pick("Now build it.", "Building the release.", "Let me build again.")}),
			h.shell(s.upload, fmt.Sprintf(s.refused, now()[11:19], p.uuid()), 1).after(thought{"", p.pick("Upload it.", "Now the upload.", "Let me try the upload again.")}))
	}
	return entries, 3
}

// deviceLog is what a device logs all the time. No line is about the app.
type deviceLog struct {
	*generator
	android bool
	at      time.Time
	pids    map[string]int
	lines   []string // level, process or tag, and text
}

// filter is a command that prints the lines of a log that contain one of some words, or all lines.
type filter struct {
	command string
	words   []string
}

// deviceLog returns the log of an Android phone or of a simulator of iOS.
func (p *generator) deviceLog() *deviceLog {
	l, words := &deviceLog{generator: p, android: p.coin(), at: time.Date(2026, time.June, p.between(1, 28), p.between(7, 18), p.IntN(60), p.IntN(60), 0, time.UTC), pids: map[string]int{}}, p.distinctWords(6)
	l.lines = []string{"E|BpTransactionCompletedListener|Failed to transact (-32)", "W|libc|Access denied finding property \"ro.vendor." + words[0] + "\"", "I|ActivityManager|Killing %d:com.google.android." + words[1] + " (adj 985): empty #17", "D|WifiNl80211Manager|Scan result ready event", "E|BatteryStatsService|no controller energy info supplied for wifi", "W|BestClock|java.time.DateTimeException: Missing NTP fix", "I|chatty|uid=1000(system) Binder:%d_4 identical 2 lines", "W|ProcessStats|Tracking association SourceState{%x system/1000 BTopFgs}", "E|SELinux|avc:  denied  { find } for pid=%d scontext=u:r:" + words[2] + ":s0 tclass=service_manager permissive=0", "D|ConnectivityService|requestNetwork for uid/pid:10%d", "E|" + capitalized(words[3]) + "Service|error opening trace file: No such file or directory (2)"}
	if !l.android {
		l.lines = []string{"Df|runningboardd|(RunningBoard) [com.apple.runningboard:general] Ignoring jetsam update because this process is not memory-managed", "Df|backboardd|[com.apple.backboard:Accessory] HID service %d", "Db|locationd|{\"msg\":\"#spi, client not authorized\", \"uid\":%d}", "Df|SpringBoard|[com.apple." + words[3] + ":common] Received state update for %d", "E |nsurlsessiond|[com.apple.CFNetwork:Default] Task <%x> finished with error [-1001] Error Domain=NSURLErrorDomain Code=-1001", "Df|CommCenter|(libATCommandStudioDynamic.dylib) QMI: %d", "Df|dasd|[com.apple.duetactivityscheduler:scoring] Rescoring all %d activities", "E |ReportCrash|[com.apple.osanalytics:" + words[4] + "] no log for incident %d", "E |tccd|[com.apple.TCC:access] denied, error: prompting policy for pid %d", "F |" + words[5] + "d|[com.apple." + words[5] + ":default] fault: missing entitlement %d"}
	}
	for _, line := range l.lines {
		l.pids[strings.Split(line, "|")[1]] = p.between(400, 2900)
	}
	return l
}

// show prints some lines that a filter lets pass.
func (l *deviceLog) show(f filter, lines int) string {
	passed := slices.DeleteFunc(slices.Clone(l.lines), func(line string) bool {
		return len(f.words) > 0 && !slices.ContainsFunc(f.words, func(word string) bool { return strings.Contains(strings.ToLower(line), word) })
	})
	l.at = l.at.Add(time.Duration(l.between(5, 70)) * time.Second)
	text := make([]string, lines)
	for k := range text {
		l.at = l.at.Add(time.Duration(l.IntN(900)) * time.Millisecond)
		part := strings.Split(l.pick(passed...), "|")
		if strings.Contains(part[2], "%") {
			part[2] = fmt.Sprintf(part[2], l.between(300, 30_000))
		}
		pid := l.pids[part[1]]
		if l.android {
			text[k] = fmt.Sprintf("%s %5d %5d %s %s: %s", l.at.Format("01-02 15:04:05.000"), pid, pid+l.IntN(90), part[0], part[1], part[2])
		} else {
			text[k] = fmt.Sprintf("%s %s %s[%d:%x] %s", l.at.Format("2006-01-02 15:04:05.000"), part[0], part[1], pid, l.between(30_000, 900_000), part[2])
		}
	}
	return strings.Join(text, "\n")
}

// filters returns commands that show parts of the log, and one that starts the app.
func (l *deviceLog) filters(app string) (filters []filter, start, started string) {
	name := app[strings.LastIndex(app, ".")+1:]
	if l.android {
		return []filter{
			{"adb logcat -d | tail -n 50", nil},
			{"adb logcat -d '*:E'", []string{"e|"}},
			{"adb logcat -d -b all | grep -iE 'exception|fatal|" + name + "|denied'", []string{"exception", "denied"}},
			{"adb logcat -d '*:W' -t 200 | grep -v chatty", []string{"w|", "e|"}},
			{"adb logcat -d | grep -iE 'error|fail|crash' | tail -30", []string{"error", "fail"}},
			{"adb logcat -d -v threadtime | tail -n 40", nil},
			{"adb logcat -d -b main,system,crash -t 100", nil},
			{"adb logcat -d | grep -i -B2 -A5 exception", []string{"exception", "denied", "failed"}},
		}, "adb shell am start -n " + app + "/.MainActivity", "Starting: Intent { cmp=" + app + "/.MainActivity }"
	}
	return []filter{
		{"xcrun simctl spawn booted log show --last 5m --style compact | tail -50", nil},
		{"xcrun simctl spawn booted log show --last 2m --style compact --predicate 'eventMessage CONTAINS[c] \"error\"'", []string{"error"}},
		{"xcrun simctl spawn booted log show --last 10m --style compact | grep -i -E 'fault|denied|" + name + "'", []string{"fault", "denied"}},
		{"xcrun simctl spawn booted log show --last 1m --style compact --debug | tail -40", nil},
		{"xcrun simctl spawn booted log show --last 5m --style compact --predicate 'subsystem BEGINSWITH \"com.apple\"' | grep -i -A 5 crash", []string{"crash", "error"}},
		{"xcrun simctl spawn booted log show --last 3m --style compact --predicate 'messageType == error OR messageType == fault'", []string{"e |", "f |"}},
	}, "xcrun simctl launch booted " + app, app + ": %d"
}

// logcatFilteredInVain looks for the crash of an app in the log of a device by other filters; each shows what the device logs all the time.
func logcatFilteredInVain(p *generator) (entries []entry, _ int) {
	run, log, name := p.operator(), p.deviceLog(), p.word()
	filters, start, started := log.filters("com.example." + name)
	w := wording{
		[]string{"Let me look for the crash in the device log.", "The app closes at once. I read the log."},
		[]string{"There is nothing about " + name + " in it.", "Only messages of the system.", "I don't see a stack trace.", "The crash is not in this part of the log.", "That is just noise.", ""},
		[]string{"Let me filter it differently.", "I'll look at the errors alone.", "Let me see more of the log.", "Let me search for the exception.", "Perhaps another buffer has it.", "Let me check the log once more."},
	}
	for k := range p.repeats() + 1 {
		if k > 1 && p.IntN(3) == 0 {
			answer := started
			if strings.Contains(answer, "%") {
				answer = fmt.Sprintf(answer, p.between(2000, 30_000))
			}
			entries = append(entries, run(start, answer, 0).after(thought{"", p.pick("Let me start the app again.", "I'll reproduce the crash first.", "")}))
		}
		f := filters[p.IntN(len(filters))]
		entries = append(entries, run(f.command, log.show(f, p.pickInt(1, 3, 5, 8, 14, 25, 40)), 0).after(w.of(p, k)))
	}
	return entries, 1
}

// layout is one way to write a widget, and the test's complaint about it.
type layout struct{ code, complaint string }

// layouts returns a test of a screen and three layouts, none of which passes it.
func (p *generator) layouts() (file, command string, layouts [3]layout) {
	name, unit := p.word(), capitalized(p.word())
	if p.coin() {
		rule := "══╡ EXCEPTION CAUGHT BY RENDERING LIBRARY ╞═════════════════════════════════════════════════════════\n"
		return "lib/screens/" + name + "_screen.dart", "flutter test test/" + name + "_screen_test.dart", [3]layout{
			{"Column(children: [const " + unit + "Header(), " + unit + "List()])", rule + "The following assertion was thrown during layout:\nA RenderFlex overflowed by " + fmt.Sprint(p.between(12, 400)) + " pixels on the bottom.\n\nThe relevant error-causing widget was:\n  Column Column:lib/screens/" + name + "_screen.dart:%d:9\n\n00:%02d +0 -1: Some tests failed."},
			{"SingleChildScrollView(child: Column(children: [const " + unit + "Header(), Expanded(child: " + unit + "List())]))", rule + "The following assertion was thrown during performLayout():\nRenderFlex children have non-zero flex but incoming height constraints are unbounded.\nWhen a column is in a parent that does not provide a finite height constraint, for example if it is in a vertical scrollable, it will try to shrink-wrap its children along the vertical axis.\n\nThe relevant error-causing widget was:\n  Column Column:lib/screens/" + name + "_screen.dart:%d:9\n\n00:%02d +0 -1: Some tests failed."},
			{"Column(children: [const " + unit + "Header(), ListView(children: " + p.word() + ")])", rule + "The following assertion was thrown during performResize():\nVertical viewport was given unbounded height.\nViewports expand in the scrolling direction to fill their container. In this case, a vertical viewport was given an unlimited amount of vertical space in which to expand.\n\nThe relevant error-causing widget was:\n  ListView ListView:lib/screens/" + name + "_screen.dart:%d:9\n\n00:%02d +0 -1: Some tests failed."},
		}
	}
	test := "com.example." + unit + "ScreenTest > shows the last row FAILED\n    "
	return "app/src/main/java/com/example/" + unit + "Screen.kt", "./gradlew :app:testDebugUnitTest --tests '*" + unit + "ScreenTest'", [3]layout{
		{"Column { " + unit + "Header(); " + unit + "Rows(items) }", test + "java.lang.AssertionError: Assert failed: The component is not displayed!\n        at com.example." + unit + "ScreenTest.shows(" + unit + "ScreenTest.kt:%d)\n9 tests completed, 1 failed\n\nBUILD FAILED in %ds"},
		{"Column(Modifier.verticalScroll(rememberScrollState())) { " + unit + "Header(); LazyColumn { items(items) { " + unit + "Row(it) } } }", test + "java.lang.IllegalStateException: Vertically scrollable component was measured with an infinity maximum height constraints, which is disallowed.\n        at androidx.compose.foundation.CheckScrollableContainerConstraintsKt.checkScrollableContainerConstraints-K40F9xA(CheckScrollableContainerConstraints.kt:%d)\n9 tests completed, 1 failed\n\nBUILD FAILED in %ds"},
		{"Column { " + unit + "Header(); LazyColumn(Modifier.fillMaxHeight()) { items(items) { " + unit + "Row(it) } } }", test + "java.lang.AssertionError: Failed to perform isDisplayed check: the node " + name + "_footer has no bounds (0.0, 0.0, 0.0, 0.0)\n        at com.example." + unit + "ScreenTest.footer(" + unit + "ScreenTest.kt:%d)\n9 tests completed, 1 failed\n\nBUILD FAILED in %ds"},
	}
}

// overflowTradedForUnboundedHeight writes a screen in three ways, each of which breaks another rule of the layout, and then writes them again.
func overflowTradedForUnboundedHeight(p *generator) (entries []entry, _ int) {
	h := p.patient()
	file, command, layouts := p.layouts()
	w := wording{
		[]string{"Let me change the layout of the screen.", "The test of the screen fails, so I change how it is laid out."},
		[]string{"Now it is another layout error.", "The layout is still not valid.", "One problem is gone and the other one is here.", "I see, it needs a bounded height.", "Hmm, a layout error once more.", ""},
		[]string{"Let me wrap it differently.", "I'll let the list take the space that is left.", "Let me take the scroll view out.", "Let me make the whole screen scroll.", "Let me nest the list in another way.", "I'll restructure the column."},
	}
	last, at := layouts[2], p.between(20, 80)
	if p.coin() {
		last.code = "Placeholder()"
	}
	for k := range 3 + p.repeats() {
		next := layouts[k%3]
		if k >= 3 {
			for next = layouts[p.IntN(3)]; next == last; {
				next = layouts[p.IntN(3)]
			}
		}
		entries = append(entries, h.replace(file, last.code, next.code).after(w.of(p, k)),
			h.shell(command, fmt.Sprintf(next.complaint, at+p.IntN(4), p.between(3, 59)), 1).after(p.runAgain()))
		last = next
	}
	return entries, 6
}
