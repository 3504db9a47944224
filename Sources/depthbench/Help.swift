/// What `--help` prints.
enum Help {
    static var text: String {
        let width = Options.rows.map { $0.name.count + $0.placeholder.count + 1 }.max() ?? 0
        let arguments = Options.rows.map { row in
            "  " + padded("\(row.name) \(row.placeholder)", to: width) + "  " + row.meaning
        }
        return head + arguments.joined(separator: "\n") + "\n" + tail
    }

    private static let head = """
        Times depthmatte and its parts, and the elements that show depth, and beside each figure a memcpy of the same frame.

        usage: depthbench [COMMAND] [ARGUMENT VALUE]...

          table      the usual case and what happens around it; less than a minute (the default)
          goals      the cases that the project has goals for, and whether they are reached
          sweep      one axis after the other, for the element and for the kernels
          grid       every combination of the values that are given
          views      the elements that show depth, led by a wall of 640x480 samples with noise and holes
          pipelines  whole pipelines: what depthmatte adds to its sources, and what a compositor of two layers adds

        In a table or sweep, the first value given for an axis becomes the usual one, and the others are what is
        tried along that axis. The usual case: 1920x1080 I420, depth 640x480, sigma 5, gamma 0.5, bicubic, a still
        image behind a person over a quarter of the frame, one thread, in place.


        """

    private static let tail = """

        Work and memcpy take turns, round by round. Times are medians over the rounds; a ratio is the median of the
        rounds' ratios. Both go through as many frames in turn, the memcpy from one such ring to another: as many as fill
        64 MiB, so that each is found in memory and not in a cache, as a camera's are; --ring gives another number. With
        --sources 1 the memcpy reads one frame only, as warm in the cache as the background, which is one still, or a
        ring of its own with --background stream. "own" is what the element says in its property stats; "ms" of the element is
        wall time from frame to frame behind it, with all that GStreamer adds, while others wait in front of it.
        What one thread does is timed on one processor, with the memcpy and all threads that surround it, unless it is
        compared with what several do (Linux).
        --work memcpy, which is timed only where it is asked for, is the memcpy itself in as many parts as --threads says.
        A frame that gains an alpha channel (--background transparent with I420) cannot be worked on in place.

        Fields of the JSON file: tool, version, cpu, cores; figures, a list of
          work, width, height, format, depth_width, depth_height, sigma, gamma, upscale, background, scene, threads,
          ring, sources, rounds, frames_per_round    what was measured
          frame_bytes                   bytes of a frame, which the memcpy copies
          ms, ms_low, ms_high           for a frame: median and quartiles of the rounds
          memcpy_ms                     for the same frame: median of the rounds
          ms_least, memcpy_ms_least     the shortest rounds, on a machine that has other work too
          ratio                         time over memcpy: median of the rounds' ratios
          interval_ms                   the element's median time from one frame to the next; null for kernels
          own_ms, own_ratio             the same as ms and ratio, by the element's stats; null for kernels
        views, a list of name, depth_format, depth_width, depth_height, width, height, format, ring, ms, ms_low,
          ms_high, memcpy_ms, ratio, kernel_ms: for a frame; the memcpy is of what leaves, kernel_ms is without GStreamer
        pipelines, a list of name, wall_ms, added_wall_ms, wall_ratio, cpu_ms, added_cpu_ms, cpu_ratio: for a frame;
          added is what the sources alone do not take, ratios are those of added times to the compositor's
        goals, a list of goal, limit, at_most (else at least), value, reached

        The exit status is 0; 1 where something cannot be done; 2 where an argument is wrong.

        """
}
