"""Each score against cases small enough to count by hand, and against a fault that it must notice."""
import math
import sys
import unittest

if __name__ == "__main__" and {"-h", "--help"} & set(sys.argv[1:]):
    print(__doc__.strip())
    sys.exit()

import numpy as np

import peers
import scores


def square(side=20, low=5, high=15):
    """A square of ones; with the defaults 10x10, columns and rows 5 ..< 15."""
    picture = np.zeros((side, side))
    picture[low:high, low:high] = 1
    return picture


class Differences(unittest.TestCase):
    def test_sad_counts_whole_pixels_in_thousands(self):
        alpha = square()
        alpha[5:15, 5] = 0.5  # ten pixels, half of each lost
        self.assertAlmostEqual(scores.sad(alpha, square()), 0.005)

    def test_sad_leaves_out_what_is_not_judged(self):
        judged = np.ones((20, 20), bool)
        judged[:, :10] = False
        self.assertAlmostEqual(scores.sad(np.zeros((20, 20)), square(), judged), 0.05)

    def test_mse_is_a_mean_in_thousandths(self):
        alpha = square()
        alpha[5:15, 5] = 0.5  # 10 x 0.25 / 400
        self.assertAlmostEqual(scores.mse(alpha, square()), 6.25)

    def test_mad_is_a_mean_in_thousandths(self):
        alpha = square()
        alpha[5:15, 5] = 0.5  # 10 x 0.5 / 400
        self.assertAlmostEqual(scores.mad(alpha, square()), 12.5)
        right = np.zeros((20, 20), bool)
        right[:, 10:] = True
        self.assertEqual(scores.mad(alpha, square(), right), 0)

    def test_nothing_to_judge_is_no_perfect_score(self):
        nothing = np.zeros((20, 20), bool)
        for score in (
                scores.sad, scores.mad, scores.mse, scores.gradient, scores.connectivity, scores.room_leak, scores.eaten):
            self.assertTrue(math.isnan(score(square(), square(), nothing)), score.__name__)
        self.assertTrue(math.isnan(scores.outline_f(square(), square(), 1, nothing)))


class Gradient(unittest.TestCase):
    def test_equal_mattes_and_constant_offsets_score_nothing(self):
        self.assertEqual(scores.gradient(square(), square()), 0)
        self.assertAlmostEqual(scores.gradient(square() * 0 + 0.3, square() * 0), 0)

    def test_a_lost_ramp_costs_its_slope_squared(self):
        # Along a ramp of 0.01 a pixel, the filter of Euclidean length 1 answers slope x sum(t * derivative) x sum(bell) x
        # scale; that gain is counted here from the definition.
        sigma = 1.4
        t = np.arange(-20, 21)
        bell = np.exp(-t ** 2 / (2 * sigma ** 2)) / (sigma * np.sqrt(2 * np.pi))
        slope = t * bell / sigma ** 2
        gain = (t * slope).sum() * bell.sum() / np.sqrt((bell ** 2).sum() * (slope ** 2).sum())
        ramp = np.tile(np.arange(100) * 0.01, (50, 1))
        middle = np.zeros(ramp.shape, bool)
        middle[20:30, 40:60] = True
        expected = 200 * (0.01 * gain) ** 2 / 1000
        measured = scores.gradient(ramp, ramp * 0, middle)
        self.assertLess(abs(measured / expected - 1), 0.05)

    def test_a_blurred_edge_costs(self):
        soft = square()
        soft[5:15, 4] = soft[5:15, 5] = 0.5
        self.assertGreater(scores.gradient(soft, square()), 0.001)


class Connectivity(unittest.TestCase):
    def test_a_loose_island_costs_its_alpha(self):
        alpha = square()
        alpha[1:3, 1:3] = 1  # four pixels beside the main part, at level 0
        self.assertAlmostEqual(scores.connectivity(alpha, square()), 0.004)

    def test_an_island_below_the_tolerance_is_free(self):
        alpha = square()
        alpha[1:3, 1:3] = 0.14
        self.assertEqual(scores.connectivity(alpha, square()), 0)

    def test_equal_mattes_score_nothing(self):
        self.assertEqual(scores.connectivity(square(), square()), 0)


class Outline(unittest.TestCase):
    def test_a_shift_within_the_tolerance_is_free(self):
        shifted = np.roll(square(), 1, axis=1)
        self.assertEqual(scores.outline_f(shifted, square(), 1), 1)
        self.assertEqual(scores.outline_f(np.roll(square(40), 2, axis=1), square(40), 3), 1)

    def test_a_shift_beyond_the_tolerance_costs(self):
        # A 10x10 square moved right by 4. Of its 36 outline pixels 16 are near a true one: of top and bottom the 6 columns
        # that overlap and 1 beside them, and below and above its left corners one each. The other way round it is the same.
        truth = square(40, 10, 20)
        moved = np.roll(truth, 4, axis=1)
        self.assertAlmostEqual(scores.outline_f(moved, truth, 1), 16 / 36)
    def test_a_matte_without_outline_scores_zero_and_a_truth_without_one_nothing(self):
        self.assertEqual(scores.outline_f(square() * 0, square(), 3), 0)
        self.assertTrue(math.isnan(scores.outline_f(square(), square() * 0, 3)))


class Time(unittest.TestCase):
    def moving(self, frames=12, speed=1.0, late=0.0):
        """A bar whose left edge moves `speed` pixels a frame."""
        edges = [10 + speed * (t - late) for t in range(frames)]
        columns = np.arange(40)
        return np.array([np.tile(np.clip(columns - edge, 0, 1), (8, 1)) for edge in edges])

    def test_dtssd_is_the_error_of_the_change(self):
        truths = np.zeros((3, 10, 10))
        alphas = truths.copy()
        alphas[1, 0, :4] = 0.5  # both steps err by 0.5 on 4 of 100 pixels: sqrt(0.01) = 0.1
        self.assertAlmostEqual(scores.dtssd(alphas, truths), 10)
        self.assertAlmostEqual(scores.dtssd(truths + 0.2, truths), 0)

    def test_flicker_is_the_change_after_settling(self):
        alphas = np.zeros((8, 10, 10))
        alphas[:4] = np.random.default_rng(0).random((4, 10, 10))  # frames 0 to 3 do not count
        self.assertEqual(scores.flicker(alphas), 0)
        alphas[5::2, 0, :4] = 0.5
        self.assertAlmostEqual(scores.flicker(alphas), 10)

    def test_lag_finds_a_known_delay(self):
        for late in (0.0, 0.5, 1.0, 1.5, -1.0):
            self.assertAlmostEqual(scores.lag(self.moving(late=late), self.moving()), late, delta=0.101)

    def test_lag_needs_movement_and_frames(self):
        still = np.array([square()] * 12)
        self.assertTrue(math.isnan(scores.lag(still, still)))
        self.assertTrue(math.isnan(scores.lag(self.moving(5), self.moving(5))))
        self.assertTrue(math.isnan(scores.flicker(still[:5])))
        self.assertTrue(math.isnan(scores.dtssd(still[:1], still[:1])))


class Regions(unittest.TestCase):
    def test_room_leak_is_a_percentage_of_the_far_room(self):
        truth = np.zeros((20, 20))
        truth[:, 0] = 1  # columns 4 to 19 are farther than 3: 320 pixels
        alpha = truth.copy()
        alpha[:, 1:4] = 1  # within 3 pixels: free
        self.assertEqual(scores.room_leak(alpha, truth), 0)
        alpha[0:2, 10:18] = 0.2
        alpha[5:9, 10:18] = 0.1  # not above the limit
        self.assertAlmostEqual(scores.room_leak(alpha, truth), 100 * 16 / 320)

    def test_eaten_is_a_percentage_of_the_inside(self):
        truth = square()
        truth[5] = 0.9  # ten pixels that are not inside
        alpha = truth.copy()
        alpha[5:8] = 0.4  # lost: rows 6 and 7, 20 of 90
        alpha[8] = 0.5  # not below a half
        self.assertAlmostEqual(scores.eaten(alpha, truth), 100 * 20 / 90)

    def test_kept_and_mean_alpha(self):
        where = np.zeros((20, 20), bool)
        where[5:7, 5:15] = True
        alpha = square()
        alpha[5] = 0
        self.assertAlmostEqual(scores.kept(alpha, square(), where), 0.5)
        self.assertAlmostEqual(scores.kept(alpha + 5, square(), where), 1)  # too much is no hair
        self.assertAlmostEqual(scores.mean_alpha(alpha, where), 0.5)
        self.assertTrue(math.isnan(scores.kept(alpha, square() * 0, where)))
        self.assertTrue(math.isnan(scores.mean_alpha(alpha, where & False)))

    def test_holes_make_hair_and_shadow(self):
        truth = np.zeros((40, 100))
        truth[:, 50:] = 1
        depth = np.ones((20, 50))
        depth[2:8, 22:28] = 0  # rows 4 ..< 16, columns 44 ..< 56: 6 columns of shadow, 6 of hair
        depth[15, 40] = 0  # a dot is neither
        hair, shadow = scores.unmeasured_person(depth, truth), scores.shadow_band(depth, truth)
        self.assertEqual(hair.sum(), 12 * 6)
        self.assertEqual(shadow.sum(), 12 * 4)  # farther than 2 and at most 6 of 100 pixels away
        self.assertFalse(hair[30].any() or shadow[30].any())

    def test_polygon_and_what_it_judges(self):
        mask = scores.polygon([(5, 5), (15, 5), (15, 15), (5, 15)], (20, 20))
        self.assertTrue((mask == (square() > 0)).all())
        window, unsure = (2, 2, 16, 16), [(2, 2, 4, 16)]
        judged = scores.hand_judged(mask, window, unsure)
        # The window less the box leaves columns 6 ..< 18 of rows 2 ..< 18, less the ring of pixels beside the outline.
        ring = np.zeros((20, 20), bool)
        ring[4:16, 4:16] = True
        ring[6:14, 6:14] = False
        expected = np.zeros((20, 20), bool)
        expected[2:18, 6:18] = True
        self.assertTrue((judged == (expected & ~ring)).all())
        self.assertTrue((scores.hand_window(mask.shape, window, unsure) == expected).all())


class Peers(unittest.TestCase):
    """A square at 1 m before a wall of another color at 2 m; the depth misses 16 of 640 pixels along its sides."""

    def setUp(self):
        self.truth = square(640, 160, 480)
        noise = np.random.default_rng(0).integers(0, 20, (640, 640, 3))
        self.video = (np.where(self.truth[..., None] > 0, (40, 60, 200), (180, 120, 60)) + noise).astype(np.uint8)
        self.depth = np.where(square(160, 44, 116) > 0, 1, np.where(square(160, 40, 120) > 0, 0, 2)).astype(np.float32)

    def test_peers_find_the_edge_that_the_colors_show(self):
        for peer in (peers.grabcut, peers.closed_form)[:2 if peers.pymatting else 1]:
            self.assertLess(scores.sad(peer(self.video, self.depth, 1.25), self.truth), 2, peer.__name__)

    @unittest.skipUnless(peers.pymatting, "PyMatting is missing")
    def test_a_peer_that_is_told_leaves_out_a_thing_before_the_cutoff(self):
        self.depth[:, :20] = 1
        self.assertLess(scores.sad(peers.closed_form_told(self.video, self.depth, 1.25, self.truth), self.truth), 2)
        self.assertGreater(scores.sad(peers.closed_form(self.video, self.depth, 1.25), self.truth), 20)

    def test_nobody_before_the_cutoff_is_no_error(self):
        for peer in (peers.grabcut, peers.closed_form):
            self.assertEqual(peer(self.video, self.depth, 0.5).sum(), 0)


if __name__ == "__main__":
    unittest.main()
