/** The generator's own theme, with diagrams. */
import { useData, useRoute } from 'vitepress';
import DefaultTheme from 'vitepress/theme';
import { nextTick, onMounted, watch } from 'vue';
import { drawDiagrams } from '../diagrams.ts';
import './diagrams.css';

export default {
  extends: DefaultTheme,
  setup() {
    const { isDark } = useData();
    const route = useRoute();
    const draw = () => nextTick(() => drawDiagrams(isDark.value));
    onMounted(draw);
    watch([() => route.path, isDark], draw);
  },
};
