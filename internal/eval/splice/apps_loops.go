package splice

import (
	"fmt"
	"strings"
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
			t, text := 0.0, fmt.Sprintf("Test Suite '%s' started at %s\nTest Case '-[%sUITests.%s %s]' started.\n", suite, strings.Replace(now()[:19], "T", " ", 1), app, suite, name)
			for _, step := range steps[p.IntN(4):] {
				text += fmt.Sprintf("    t = %8.2fs     %s\n", t, step)
				t += p.Float64() * 3
			}
			return text + fmt.Sprintf("/Users/ci/%[1]s/%[1]sUITests/%[2]s.swift:%[3]d: error: -[%[1]sUITests.%[2]s %[4]s] : Failed to synthesize event: Failed to scroll to visible (by AX action) Button, %[5]s, label: '%[6]s', error: Error kAXErrorCannotComplete performing AXAction kAXScrollToVisibleAction\nTest Case '-[%[1]sUITests.%[2]s %[4]s]' failed (%.3[7]f seconds).\nFailing tests:\n\t%[2]s.%[4]s()\n** TEST FAILED **", app, suite, p.between(30, 90), name, frame, label, t+p.Float64())
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
			"[%[1]s] > Task :app:signReleaseBundle\n\nBUILD SUCCESSFUL in %[3]ds\n61 actionable tasks: %[3]d executed", "bundle exec fastlane supply --aab app/build/outputs/bundle/release/app-release.aab --track internal",
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
	for k := range p.repeats() {
		n := p.IntN(len(s.files))
		before := fmt.Sprintf(s.lines[n], major, minor, patch)
		if patch += p.between(1, 2); p.IntN(4) == 0 {
			minor, patch = minor+1, 0
		}
		entries = append(entries, h.replace(s.files[n], before, fmt.Sprintf(s.lines[n], major, minor, patch)).after(w.of(p, k)),
			h.shell(p.pick(s.builds...), fmt.Sprintf(s.built, now()[11:19], p.uuid()[:8], p.between(21, 90)), 0).after(thought{"", p.pick("Now build it.", "Building the release.", "Let me build again.")}),
			h.shell(s.upload, fmt.Sprintf(s.refused, now()[11:19], p.uuid()), 1).after(thought{"", p.pick("Upload it.", "Now the upload.", "Let me try the upload again.")}))
	}
	return entries, 3
}

// deviceNoise returns a function that prints what a phone logs all the time, with times and process ids; the lines are of a fixed set.
func (p *generator) deviceNoise(android bool) func(lines int) string {
	now, words := p.passingTime(), p.distinctWords(6)
	droid := []string{"E BpTransactionCompletedListener: Failed to transact (-32)", "W libc    : Access denied finding property \"ro.vendor." + words[0] + "\"", "I ActivityManager: Killing %d:com.google.android." + words[1] + " (adj 985): empty #17", "D WifiNl80211Manager: Scan result ready event", "E BatteryStatsService: no controller energy info supplied for wifi", "W BestClock: java.time.DateTimeException: Missing NTP fix", "I chatty  : uid=1000(system) Binder:%d_4 identical 2 lines", "W ProcessStats: Tracking association SourceState{%x system/1000 BTopFgs}", "E SELinux : avc:  denied  { find } for pid=%d scontext=u:r:" + words[2] + ":s0 tclass=service_manager permissive=0", "D ConnectivityService: requestNetwork for uid/pid:10%d"}
	ios := []string{"runningboardd: (RunningBoard) [com.apple.runningboard:general] Ignoring jetsam update because this process is not memory-managed", "backboardd: [com.apple.backboard:Accessory] HID service %d", "locationd: {\"msg\":\"#spi, client not authorized\", \"uid\":%d}", "SpringBoard: [com.apple." + words[3] + ":common] Received state update for %d", "nsurlsessiond: [com.apple.CFNetwork:Default] Task <%x> finished", "CommCenter: (libATCommandStudioDynamic.dylib) QMI: %d", "dasd: [com.apple.duetactivityscheduler:scoring] Rescoring all %d activities"}
	return func(lines int) string {
		text := make([]string, lines)
		for k := range text {
			line := p.pick(ios...)
			if android {
				line = p.pick(droid...)
			}
			if strings.Contains(line, "%") {
				line = fmt.Sprintf(line, p.between(300, 30_000))
			}
			at, pid := now(), p.between(400, 9000)
			text[k] = fmt.Sprintf("%s %s.%03d %5d %5d %s", at[5:10], at[11:19], p.IntN(1000), pid, pid+p.IntN(90), line)
		}
		return strings.Join(text, "\n")
	}
}

// logcatFilteredInVain looks for the crash of an app in the log of a device by other filters; each shows what the device logs all the time.
func logcatFilteredInVain(p *generator) (entries []entry, _ int) {
	run, app, android := p.operator(), "com.example."+p.word(), p.coin()
	noise, name := p.deviceNoise(android), app[len("com.example."):]
	filters := []string{"xcrun simctl spawn booted log show --last 5m --style compact", "xcrun simctl spawn booted log show --last 2m --predicate 'eventMessage CONTAINS \"error\"'", "xcrun simctl spawn booted log show --last 10m --info | grep -i -E 'fault|denied|" + name + "'", "xcrun simctl spawn booted log show --last 1m --debug | tail -40", "log show --last 5m --predicate 'subsystem BEGINSWITH \"com.apple\"' | grep -i crash -A 5"}
	launch := [2]string{"xcrun simctl launch booted " + app, app + ": %d"}
	if android {
		filters = []string{"adb logcat -d | tail -n 50", "adb logcat -d '*:E'", "adb logcat -d -b all | grep -iE 'exception|fatal|" + name + "|denied'", "adb logcat -d -t 200 '*:W'", "adb logcat -d | grep -iE 'error|fail|crash' | tail -30", "adb logcat -d -v threadtime | grep -v chatty | tail -n 40", "adb logcat -d -b main,system,crash -t 100"}
		launch = [2]string{"adb shell am start -n " + app + "/.MainActivity", "Starting: Intent { cmp=" + app + "/.MainActivity } # %d"}
	}
	w := wording{
		[]string{"Let me look for the crash in the device log.", "The app closes at once. I read the log."},
		[]string{"There is nothing about " + name + " in it.", "Only messages of the system.", "I don't see a stack trace.", "The crash is not in this part of the log.", "That is just noise.", ""},
		[]string{"Let me filter it differently.", "I'll look at the errors alone.", "Let me see more of the log.", "Let me search for the exception.", "Perhaps another buffer has it.", "Let me check the log once more."},
	}
	for k := range p.repeats() + 1 {
		if k > 1 && p.IntN(3) == 0 {
			entries = append(entries, run(launch[0], fmt.Sprintf(launch[1], p.between(2000, 30_000)), 0).after(thought{"", p.pick("Let me start the app again.", "I'll reproduce the crash first.", "")}))
		}
		entries = append(entries, run(p.pick(filters...), noise(p.pickInt(1, 3, 5, 8, 14, 25, 40)), 0).after(w.of(p, k)))
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
			{"Column(children: [const " + unit + "Header(), " + unit + "List()])", rule + "The following assertion was thrown during layout:\nA RenderFlex overflowed by " + fmt.Sprint(p.between(12, 400)) + " pixels on the bottom.\n\nThe relevant error-causing widget was:\n  Column Column:lib/screens/" + name + "_screen.dart:%d:%d"},
			{"SingleChildScrollView(child: Column(children: [const " + unit + "Header(), Expanded(child: " + unit + "List())]))", rule + "The following assertion was thrown during performLayout():\nRenderFlex children have non-zero flex but incoming height constraints are unbounded.\nWhen a column is in a parent that does not provide a finite height constraint, for example if it is in a vertical scrollable, it will try to shrink-wrap its children along the vertical axis.\n\nThe relevant error-causing widget was:\n  Column Column:lib/screens/" + name + "_screen.dart:%d:%d"},
			{"Column(children: [const " + unit + "Header(), ListView(children: " + p.word() + ")])", rule + "The following assertion was thrown during performResize():\nVertical viewport was given unbounded height.\nViewports expand in the scrolling direction to fill their container. In this case, a vertical viewport was given an unlimited amount of vertical space in which to expand.\n\nThe relevant error-causing widget was:\n  ListView ListView:lib/screens/" + name + "_screen.dart:%d:%d"},
		}
	}
	test := "com.example." + unit + "ScreenTest > shows the last row FAILED\n    "
	return "app/src/main/java/com/example/" + unit + "Screen.kt", "./gradlew :app:testDebugUnitTest --tests '*" + unit + "ScreenTest'", [3]layout{
		{"Column { " + unit + "Header(); " + unit + "Rows(items) }", test + "java.lang.AssertionError: Assert failed: The component is not displayed!\n        at com.example." + unit + "ScreenTest.shows(" + unit + "ScreenTest.kt:%d)\n" + "%d tests completed, 1 failed"},
		{"Column(Modifier.verticalScroll(rememberScrollState())) { " + unit + "Header(); LazyColumn { items(items) { " + unit + "Row(it) } } }", test + "java.lang.IllegalStateException: Vertically scrollable component was measured with an infinity maximum height constraints, which is disallowed.\n        at androidx.compose.foundation.CheckScrollableContainerConstraintsKt.checkScrollableContainerConstraints-K40F9xA(CheckScrollableContainerConstraints.kt:%d)\n%d tests completed, 1 failed"},
		{"Column { " + unit + "Header(); LazyColumn(Modifier.fillMaxHeight()) { items(items) { " + unit + "Row(it) } } }", test + "java.lang.AssertionError: Failed to perform isDisplayed check: the node " + name + "_footer has no bounds (0.0, 0.0, 0.0, 0.0)\n        at com.example." + unit + "ScreenTest.footer(" + unit + "ScreenTest.kt:%d)\n%d tests completed, 1 failed"},
	}
}

// overflowTradedForUnboundedHeight writes a screen in three ways, each of which breaks another rule of the layout, and then writes them again.
func overflowTradedForUnboundedHeight(p *generator) (entries []entry, _ int) {
	h := p.patient()
	file, command, layouts := p.layouts()
	w := wording{
		[]string{"Let me change the layout of the screen.", "The test of the screen fails, so I change how it is laid out."},
		[]string{"Now it is another layout error.", "That brings the other error back.", "The layout is still not valid.", "One problem is gone and the other one is here.", "I see, it needs a bounded height.", ""},
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
			h.shell(command, fmt.Sprintf(next.complaint, at+p.IntN(4), 9)+fmt.Sprintf("\n%s", p.pick("Some tests failed.", "FAILED", "There were failing tests."))+fmt.Sprintf(" (%d.%ds)", p.between(4, 60), p.IntN(10)), 1).after(p.runAgain()))
		last = next
	}
	return entries, 6
}
